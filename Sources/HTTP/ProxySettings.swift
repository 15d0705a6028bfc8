internal import Glibc
internal import Translation
internal import Web

/// The proxy settings of the environment.
///
/// libcurl does not read the environment itself, because the address check depends on whether the connection leads to
/// the host or to a proxy. Connections to loopback never use a proxy, and therefore `http` only does at a server that
/// the user named.
///
/// Source: libcurl-env(3).
nonisolated package struct ProxySettings: Sendable {
    /// A proxy, nil for none; or an error without any part of the value, which may contain a password.
    private typealias Choice = Result<ProxyAddress?, HTTPError>

    private let https: Choice
    private let http: Choice
    private let exceptions: [String]

    /// - Parameter environment: Returns the value of a variable; nil or an empty text if it is not set.
    package init(_ environment: (String) -> String?) {
        func setting(_ names: [String]) -> (name: String, value: String)? {
            for name in names {
                if let value = environment(name), !value.isEmpty { return (name, value) }
            }
            return nil
        }
        func choice(_ names: [String]) -> Choice {
            guard let (name, value) = setting(names) else { return .success(nil) }
            return Result { () throws(HTTPError) in try ProxyAddress(parsing: value, of: name) }
        }
        https = choice(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
        // A CGI program gets HTTP_PROXY from the client.
        http = choice(["http_proxy", "all_proxy", "ALL_PROXY"])
        exceptions = (setting(["no_proxy", "NO_PROXY"])?.value ?? "").lowercased()
            .split { $0 == "," || $0 == " " }.map(String.init)
    }

    /// The settings of this process.
    package static var ofProcess: ProxySettings {
        ProxySettings { name in getenv(name).map { String(cString: $0) } }
    }

    /// Returns the proxy for an address; nil for none.
    ///
    /// - Parameters:
    ///   - address: The address of the request.
    ///   - reach: The permitted addresses. `http` is permitted to an origin that the user named; any other leads to
    ///     loopback.
    /// - Returns: The proxy.
    /// - Throws: ``HTTPError/unreachable(_:)`` if the settings are malformed.
    func proxy(
        for address: ParsedAddress, _ reach: AddressScope
    ) throws(HTTPError) -> ProxyAddress? {
        let host = address.origin.host
        let literal = address.literal
        if address.origin.scheme == .http && reach != .named || literal?.isLoopback == true {
            return nil
        }
        if exceptions.contains(where: { Self.matches($0, host, literal) }) { return nil }
        return try (address.origin.scheme == .https ? https : http).get()
    }

    private static func matches(_ exception: String, _ host: String, _ literal: IPAddress?) -> Bool
    {
        if exception == "*" { return true }
        if let literal {
            let parts = exception.split(separator: "/", maxSplits: 1)
            guard let network = parts.first.flatMap({ IPAddress($0) }),
                network.bytes.count == literal.bytes.count,
                let bits = parts.count > 1 ? Int(parts[1]) : network.bytes.count * 8, bits >= 0
            else { return false }
            return literal.isWithin(network.bytes, bits: bits)
        }
        let domain = exception.drop { $0 == "." }
        return !domain.isEmpty && (host == domain || host.hasSuffix(".\(domain)"))
    }
}

/// The address of a proxy, with separate credentials, so that no message of libcurl contains them.
nonisolated struct ProxyAddress: Sendable {
    /// Scheme, host and port.
    let text: String
    /// The decoded user name; nil for none.
    let username: String?
    /// The decoded password; nil for none.
    let password: String?

    private static let schemes: Set = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// Parses `[scheme://][user[:password]@]host[:port][/]`, the syntax of curl. `http` is the default scheme.
    ///
    /// - Parameters:
    ///   - value: The value of a variable.
    ///   - variable: The name of the variable.
    /// - Throws: ``HTTPError/unreachable(_:)``, without any part of the value.
    init(parsing value: String, of variable: String) throws(HTTPError) {
        func malformed(_ reason: Message) -> HTTPError {
            .unreachable(
                Message(
                    "the proxy address in {variable} is malformed: {reason}",
                    messages: ["variable": Message(verbatim: variable), "reason": reason]))
        }
        var rest = value[...]
        var scheme = "http"
        if let end = rest.firstRange(of: "://") {
            scheme = rest[..<end.lowerBound].lowercased()
            rest = rest[end.upperBound...]
        }
        guard Self.schemes.contains(scheme) else {
            throw malformed(
                Message("the scheme must be http, https, socks4, socks4a, socks5 or socks5h"))
        }
        if rest.last == "/" { rest.removeLast() }
        guard !rest.contains(where: { "/?#\\".contains($0) }) else {
            throw malformed(
                Message(
                    "/, ? and # in a user name or password must be percent-encoded, as in %2F, %3F and %23"
                ))
        }
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let credentials = parts.compactMap(Self.decoded)
            guard credentials.count == parts.count else {
                throw malformed(
                    Message("the user name or the password is not valid percent-encoding"))
            }
            username = credentials[0]
            password = credentials.count > 1 ? credentials[1] : nil
            rest = rest[rest.index(after: at)...]
        } else {
            username = nil
            password = nil
        }
        let hostEnd =
            rest.first == "["
            ? rest.firstIndex(of: "]").map { rest.index(after: $0) }
            : rest.firstIndex(of: ":") ?? rest.endIndex
        guard let hostEnd, Self.isHost(rest[..<hostEnd]) else {
            throw malformed(Message("the host name is missing or not valid"))
        }
        guard Self.isPort(rest[hostEnd...]) else {
            throw malformed(Message("the port must be a number from 1 to 65535"))
        }
        text = "\(scheme)://\(rest)"
    }

    private static func isHost(_ host: Substring) -> Bool {
        guard host.first == "[" else { return !host.isEmpty && host.utf8.allSatisfy(isOfName) }
        let address = host.dropFirst().dropLast()
        // A zone may follow the address.
        return IPAddress(address.prefix { $0 != "%" })?.bytes.count == 16
            && address.utf8.allSatisfy { isOfName($0) || $0 == UInt8(ascii: "%") }
    }

    /// Returns true for a port after a colon, and for an empty text.
    private static func isPort(_ port: Substring) -> Bool {
        guard !port.isEmpty else { return true }
        let digits = port.dropFirst()
        return port.first == ":" && digits.utf8.allSatisfy { 0x30...0x39 ~= $0 }
            && UInt16(digits) ?? 0 > 0
    }

    /// Returns true for letters, digits, bytes of international names, and the colons of IPv6 addresses.
    private static func isOfName(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || byte >= 0x80 || ":-._".utf8.contains(byte)
    }

    private static func decoded(_ text: Substring) -> String? {
        guard let bytes = URLEncoding.bytes(text),
            !bytes.contains(where: { $0 < 0x20 || $0 == 0x7f })
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// The descriptions omit the credentials.
nonisolated extension ProxyAddress: CustomStringConvertible, CustomReflectable {
    var description: String { text }
    var customMirror: Mirror { Mirror(self, children: []) }
}
