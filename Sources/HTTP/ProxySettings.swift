internal import Glibc

/// The proxies of the user, as the environment has them.
///
/// Applied here, not by libcurl: who is connected to, the host or a proxy, has to be known to judge the
/// address. Nothing on loopback goes through a proxy, and so no `http` at all.
///
/// Source: libcurl-env(3).
nonisolated package struct ProxySettings: Sendable {
    private let proxy: String?
    private let exceptions: [String]

    /// - Parameter environment: Asked for a variable; nil or nothing where it is not set.
    package init(_ environment: (String) -> String?) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap(environment).first { !$0.isEmpty }
        }
        proxy = value("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        exceptions = (value("no_proxy", "NO_PROXY") ?? "").lowercased()
            .split { $0 == "," || $0 == " " }.map(String.init)
    }

    /// Those of this process.
    package static var ofProcess: ProxySettings {
        ProxySettings { name in getenv(name).map { String(cString: $0) } }
    }

    /// The address of the proxy for a host; nil for none.
    func proxy(for address: WebAddress) -> String? {
        let host = address.origin.host
        let literal = address.literal
        if address.origin.scheme == .http || literal?.isLoopback == true { return nil }
        return exceptions.contains { Self.matches($0, host, literal) } ? nil : proxy
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
