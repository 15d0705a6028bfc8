internal import Glibc
internal import Quoting

/// The address of a server that a user entered.
///
/// The address may be in any network, and begin with `http://`, because the user entered it.
package struct ServerAddress: Hashable, Sendable {
    /// The origin, `https://host[:port]` or `http://host[:port]`.
    package let origin: String
    /// The path without a slash at its end; empty for the root, and for a server whose path does not matter.
    package let path: String

    /// The name of the server in ``AccountIdentity/server``: the host, the port and the path, with the scheme for `http`.
    /// Equal for equal addresses.
    package var name: String {
        (origin.hasPrefix(Self.https) ? String(origin.dropFirst(Self.https.count)) : origin) + path
    }

    /// The host, the port and the path, for messages.
    package var host: String {
        String(origin[(origin.firstRange(of: "://")?.upperBound ?? origin.startIndex)...]) + path
    }

    /// The address below which the server has its pages.
    package var base: String { origin + path }

    private static let https = "https://"

    /// Parses a host, optionally with a port, or the address of any page of the server. Without a scheme, the server is
    /// requested over `https`.
    ///
    /// - Parameters:
    ///   - text: The text that the user entered.
    ///   - keepsPath: True if ``path`` is the path of the text, false if it is empty.
    /// - Throws: ``ProviderError/invalidArgument(_:)`` with a message for the user.
    package init(_ text: String, keepsPath: Bool = false) throws(ProviderError) {
        let shown = ServiceText.line(text) ?? ""
        let address = WebAddress(Self.ascii(shown.contains("://") ? shown : Self.https + shown))
        guard let address, let path = keepsPath ? Self.path(address.rest) : "" else {
            throw .invalidArgument(
                "\(shown.withoutUserInformation.quoted) is not the address of a server, such as photos.example.org or http://192.168.1.2:2283."
            )
        }
        let port = address.port.map { ":\($0)" } ?? ""
        origin = "\(address.scheme.rawValue)://\(Self.canonical(address.host))\(port)"
        self.path = path
    }

    private init(origin: String, path: String) {
        self.origin = origin
        self.path = path
    }

    /// Returns the server at another path of the origin: the given number of segments of ``path``.
    package func prefix(_ count: Int) -> ServerAddress {
        let segments = path.split(separator: "/").prefix(count)
        return ServerAddress(origin: origin, path: segments.map { "/" + $0 }.joined())
    }

    /// Returns an address with its host in ASCII; the address itself if the host is invalid.
    private static func ascii(_ address: String) -> String {
        guard let start = address.firstRange(of: "://")?.upperBound else { return address }
        let host = address[start...].prefix { !"/?#:".contains($0) }
        return InternationalName.ascii(host).map {
            "\(address[..<start])\($0)\(address[host.endIndex...])"
        } ?? address
    }

    /// Returns a host with the usual notation of an IP address, which the HTTP client sends requests to: `[::1]` for
    /// `[0::1]`, `127.0.0.1` for `127.1`. Other hosts are not changed.
    ///
    /// The corresponding C functions are `inet_pton`, `inet_aton` and `inet_ntop`.
    private static func canonical(_ host: String) -> String {
        var four = in_addr()
        var sixteen = in6_addr()
        func text(_ family: Int32, _ address: UnsafeRawPointer) -> String? {
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) {
                inet_ntop(family, address, $0.baseAddress, socklen_t($0.count)).map(
                    String.init(cString:))
            }
        }
        if host.hasPrefix("["),
            inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &sixteen) == 1
        {
            return text(AF_INET6, &sixteen).map { "[\($0)]" } ?? host
        }
        return inet_aton(host, &four) == 0 ? host : text(AF_INET, &four) ?? host
    }

    /// Returns a path without empty segments; nil if it has relative ones.
    private static func path(_ rest: String) -> String? {
        let segments = rest.prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
        guard !segments.contains("."), !segments.contains("..") else { return nil }
        return segments.map { "/" + $0 }.joined()
    }
}
