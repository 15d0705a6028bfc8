internal import CCurl
internal import Translation
internal import Web

/// The libcurl library, loaded at the first use and never unloaded.
final class CurlLibrary {
    /// The functions of the library, as a parameter of the C shims.
    let table: UnsafePointer<shim_curl>

    private static var loaded: CurlLibrary?

    /// 7.80, the first version with `CURLOPT_PREREQFUNCTION`.
    private static let oldestVersion: UInt32 = 0x075000

    /// Loads the library if it is not loaded. After a failure the next call tries again.
    ///
    /// - Returns: The shared instance of the process.
    /// - Throws: ``HTTPError/failed(_:)``.
    static func load() throws(HTTPError) -> CurlLibrary {
        if let loaded { return loaded }
        let library = try CurlLibrary("libcurl.so.4")
        loaded = library
        return library
    }

    /// - Parameter name: The file name for the dynamic loader.
    /// - Throws: ``HTTPError/failed(_:)``.
    init(_ name: String) throws(HTTPError) {
        let table = UnsafeMutablePointer<shim_curl>.allocate(capacity: 1)
        table.initialize(to: shim_curl())
        // Never freed, because the library is never unloaded.
        self.table = UnsafePointer(table)
        if let reason = shim_curl_load(table, name) {
            table.deallocate()
            throw .failed(
                Message(
                    "libcurl could not be loaded: {reason}", ["reason": String(cString: reason)]))
        }
        let code = functions.global_init(Int(CURL_GLOBAL_ALL))
        guard code == CURLE_OK else {
            throw .failed(
                Message("libcurl could not be started: {reason}", ["reason": describe(code)]))
        }
        guard let version = functions.version_info(CURLVERSION_FIRST),
            version.pointee.version_num >= Self.oldestVersion
        else { throw .failed(Message("libcurl is older than 7.80")) }
    }

    /// The functions of the library.
    var functions: shim_curl { table.pointee }

    func describe(_ code: CURLcode) -> String {
        functions.easy_strerror(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
    }
}

extension HTTPError {
    /// Returns the error for a code of libcurl.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - text: The text of libcurl about the error.
    ///   - refusal: The error for which a connection was refused; nil if none was.
    ///   - server: The server, if the user named it; nil for a host of a service.
    /// - Returns: The error for the caller of the transfer.
    static func curl(
        _ code: CURLcode, _ text: String, _ refusal: HTTPError?,
        _ server: ParsedAddress.Origin?
    ) -> HTTPError {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
            return .unreachable(Message(verbatim: text))
        // libcurl checks only the connection timeout; ``Watchdog`` checks the other limits.
        case CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT:
            // Removes the number of milliseconds, which is of no use in a user message.
            let details = text.firstRange(of: " after ")?.lowerBound ?? text.endIndex
            let reason = Message(verbatim: String(text[..<details]))
            let error = HTTPError.unreachable(
                server == nil
                    ? reason
                    : Message("{reason}; check the address", messages: ["reason": reason]))
            return code == CURLE_COULDNT_CONNECT ? refusal ?? error : error
        case CURLE_PEER_FAILED_VERIFICATION:
            // The texts of OpenSSL and of GnuTLS for a certificate that no trusted one has signed.
            let isUnknown = ["self-signed", "self signed", "issuer certificate", "not trusted"]
                .contains(where: text.contains)
            guard let server, isUnknown else { return .failed(Message(verbatim: text)) }
            return .failed(
                Message(
                    "the certificate of {server} is not trusted; see “Certificates” in imagefeedd(1)",
                    ["server": server.host]))
        case CURLE_SSL_CONNECT_ERROR:
            // The texts of OpenSSL and of GnuTLS for an answer in plain HTTP.
            let isPlain = [
                "wrong version number", "packet length too long", "record layer failure",
                "unexpected TLS packet",
            ].contains(where: text.contains)
            guard let server, isPlain else { return .failed(Message(verbatim: text)) }
            return .failed(
                Message(
                    "{server} does not answer with https; if it has only http, enter http://{server}",
                    ["server": server.name]))
        default: return .failed(Message(verbatim: text))
        }
    }
}
