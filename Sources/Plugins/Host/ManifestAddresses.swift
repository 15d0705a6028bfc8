internal import ProviderKit

/// The parser of hosts and addresses in a manifest.
nonisolated struct ManifestAddresses {
    /// True if the configuration permits addresses on this computer.
    let allowsLoopback: Bool

    /// Parses the hosts to which a plugin may send requests.
    func hosts(
        _ names: [String]
    ) throws(ManifestProblem) -> (patterns: [AllowedHosts.Pattern], origins: Set<String>) {
        var patterns: [AllowedHosts.Pattern] = []
        var origins: Set<String> = []
        for name in names {
            if name.contains("://") {
                origins.insert(try loopbackAddress(name, "Hosts").origin)
            } else if let pattern = AllowedHosts.Pattern(name) {
                patterns.append(pattern)
            } else {
                throw ManifestProblem(
                    "“\(name)” in Hosts is not a host, such as example.org, *.example.org, example.org:8443 or *."
                )
            }
        }
        return (patterns, origins)
    }

    /// Parses an address on this computer, if the configuration permits it.
    private func loopbackAddress(
        _ text: String, _ key: String
    ) throws(ManifestProblem) -> WebAddress {
        guard let address = WebAddress(text), address.isLoopback else {
            throw ManifestProblem(
                "“\(text)” in \(key) is an address; name only its host.", key: key)
        }
        guard allowsLoopback else {
            throw ManifestProblem(
                "“\(text)” in \(key) is on this computer; set AllowLoopback=true for the provider in imagefeed.conf.",
                key: key)
        }
        return address
    }

    /// Parses the origins that receive the key or the token.
    func tokenOrigins(
        _ group: ManifestGroup
    ) throws(ManifestProblem) -> [String] {
        var origins: [String] = []
        for name in try group.list("TokenHosts", required: false) {
            if name.contains("://") {
                origins.append(try loopbackAddress(name, "TokenHosts").origin)
            } else if !name.contains("*"), AllowedHosts.Pattern(name) != nil,
                let address = WebAddress("https://\(name)")
            {
                origins.append(address.origin)
            } else {
                throw ManifestProblem(
                    "“\(name)” in TokenHosts is not a host, such as api.example.org.",
                    key: "TokenHosts")
            }
        }
        return origins
    }

    /// Parses the address of an OAuth endpoint.
    func endpoint(
        _ group: ManifestGroup, _ key: String
    ) throws(ManifestProblem) -> String {
        let text = try group.required(key)
        guard let address = WebAddress(text), address.scheme == .https || address.isLoopback else {
            throw ManifestProblem("\(key) must be an address that begins with https://.", key: key)
        }
        if address.isLoopback { _ = try loopbackAddress(text, key) }
        return address.text
    }

    /// Parses the servers on this computer, from the configuration.
    static func loopbackServers(
        _ settings: ProviderSettings
    ) throws(ManifestProblem) -> LoopbackServers {
        guard let servers = LoopbackServers(settings["LoopbackServers"] ?? "") else {
            throw ManifestProblem("LoopbackServers in the configuration \(LoopbackServers.rule)")
        }
        return servers
    }
}
