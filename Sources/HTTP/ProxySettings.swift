internal import Glibc
internal import ProviderKit
internal import Translation

/// The proxy settings of the environment.
///
/// libcurl does not read the environment itself, because the address check depends on whether the connection leads to
/// the host or to a proxy. Connections to loopback never use a proxy, and therefore `http` never does.
///
/// Source: libcurl-env(3).
nonisolated package struct ProxySettings: Sendable {
    private enum Choice {
        case none
        case proxy(ProxyAddress)
        /// The name of the variable, and the fault without any part of the value, which may contain a password.
        case malformed(variable: String, fault: Message)
    }

    private let choice: Choice
    private let exceptions: [String]

    /// - Parameter environment: Returns the value of a variable; nil or an empty text if it is not set.
    package init(_ environment: (String) -> String?) {
        func setting(_ names: [String]) -> (name: String, value: String)? {
            for name in names {
                if let value = environment(name), !value.isEmpty { return (name, value) }
            }
            return nil
        }
        choice =
            switch setting(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]) {
            case nil: .none
            case (let name, let value)?:
                switch Result(catching: { () throws(ProxyAddress.Fault) in
                    try ProxyAddress(parsing: value)
                }) {
                case .success(let address): .proxy(address)
                case .failure(let fault): .malformed(variable: name, fault: fault.text)
                }
            }
        exceptions = (setting(["no_proxy", "NO_PROXY"])?.value ?? "").lowercased()
            .split { $0 == "," || $0 == " " }.map(String.init)
    }

    /// The settings of this process.
    package static var ofProcess: ProxySettings {
        ProxySettings { name in getenv(name).map { String(cString: $0) } }
    }

    /// Returns the proxy for an address; nil for none.
    ///
    /// - Parameter address: The address of the request.
    /// - Returns: The proxy.
    /// - Throws: ``HTTPError/unreachable(_:)`` if the settings are malformed.
    func proxy(for address: WebAddress) throws(HTTPError) -> ProxyAddress? {
        let host = address.origin.host
        let literal = address.literal
        if address.origin.scheme == .http || literal?.isLoopback == true { return nil }
        if exceptions.contains(where: { Self.matches($0, host, literal) }) { return nil }
        switch choice {
        case .none: return nil
        case .proxy(let address): return address
        case .malformed(let variable, let fault):
            throw .unreachable(
                Message(
                    "the proxy address in {variable} is malformed: {reason}",
                    messages: ["variable": Message(verbatim: variable), "reason": fault]))
        }
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
