internal import CCurl
internal import Glibc
internal import Translation
internal import Web

/// A web address, parsed by libcurl, which also makes the connection.
nonisolated struct ParsedAddress: Hashable {
    /// The scheme, host and port to which credentials are bound.
    struct Origin: Hashable {
        let scheme: Scheme
        /// The host name in lower case; an IPv6 address without its brackets.
        let host: String
        let port: UInt16

        /// The host, and the port unless it is that of the scheme.
        var name: String {
            let host = host.contains(":") ? "[\(host)]" : host
            return port == (scheme == .https ? 443 : 80) ? host : "\(host):\(port)"
        }
    }

    typealias Scheme = Web.WebAddress.Scheme

    let origin: Origin
    /// The whole address without the fragment.
    let text: String

    /// The IP address in place of a host name; nil for other host names.
    var literal: IPAddress? {
        let host = origin.host
        return IPAddress(host)
            // These names always stand for a loopback address (RFC 6761 §6.3).
            ?? (host == "localhost" || host.hasSuffix(".localhost")
                ? IPAddress("127.0.0.1") : nil)
    }

    /// True if the host is a name that only a local network resolves.
    var isLocalName: Bool { literal == nil && WebAddress.isLocal(origin.host) }

    private static let maximumBytes = 16 << 10

    /// Parses an absolute address.
    ///
    /// - Throws: ``HTTPError/invalidAddress(_:)`` if the text is not an address, contains a user name or password, or
    ///   has an unsupported scheme.
    @MainActor init(_ text: String) throws(HTTPError) { try self.init([(text, 0)]) }

    /// Parses a reference relative to `base`.
    @MainActor init(_ reference: String, relativeTo base: ParsedAddress) throws(HTTPError) {
        // Other programs escape too few characters.
        try self.init([(base.text, 0), (reference, CURLU_URLENCODE)])
    }

    @MainActor private init(_ references: [(String, Int32)]) throws(HTTPError) {
        let library = try CurlLibrary.load()
        guard let handle = library.functions.url() else {
            throw .failed(Message(verbatim: "out of memory"))
        }
        defer { library.functions.url_cleanup(handle) }
        for (reference, flags) in references {
            guard reference.utf8.count <= Self.maximumBytes, !reference.utf8.contains(0) else {
                throw .invalidAddress(
                    Message(
                        "it is longer than {count} bytes or contains a NUL character",
                        ["count": "\(Self.maximumBytes)"]))
            }
            let code = library.functions.url_set(
                handle, CURLUPART_URL, reference,
                UInt32(flags | CURLU_DISALLOW_USER | CURLU_NON_SUPPORT_SCHEME))
            guard code == CURLUE_OK else {
                throw .invalidAddress(
                    Message(
                        verbatim: library.functions.url_strerror(code).map { String(cString: $0) }
                            ?? "error \(code.rawValue)"))
            }
        }
        _ = library.functions.url_set(handle, CURLUPART_FRAGMENT, nil, 0)
        func part(_ part: CURLUPart, _ flags: Int32 = 0) throws(HTTPError) -> String {
            var text: UnsafeMutablePointer<CChar>?
            let code = library.functions.url_get(handle, part, &text, UInt32(flags))
            guard code == CURLUE_OK, let text else {
                throw .invalidAddress(Message("it is incomplete"))
            }
            defer { library.functions.free(text) }
            return String(cString: text)
        }
        let schemeName = try part(CURLUPART_SCHEME).lowercased()
        guard let scheme = Scheme(rawValue: schemeName) else {
            throw .invalidAddress(
                Message("the scheme {scheme} is not supported", ["scheme": schemeName]))
        }
        guard let port = UInt16(try part(CURLUPART_PORT, CURLU_DEFAULT_PORT)), port > 0 else {
            throw .invalidAddress(Message("the port is not valid"))
        }
        var host = try part(CURLUPART_HOST).lowercased()
        if host.hasPrefix("[") { host = String(host.dropFirst().dropLast()) }
        guard !host.isEmpty else { throw .invalidAddress(Message("the host is missing")) }
        origin = Origin(scheme: scheme, host: host, port: port)
        text = try part(CURLUPART_URL)
    }
}
