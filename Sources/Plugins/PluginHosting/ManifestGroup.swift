internal import ProviderKit

/// The keys of one group of a manifest. A key that is not valid is reported, and has the value of a missing one.
nonisolated struct ManifestGroup {
    let name: String
    private let values: [String: String]
    private let problems: ManifestProblems
    /// True if the configuration permits addresses on this computer.
    private let allowsLoopback: Bool

    init(
        _ name: String, _ groups: [String: [String: String]], _ problems: ManifestProblems,
        allowsLoopback: Bool
    ) {
        self.name = name
        values = groups[name] ?? [:]
        self.problems = problems
        self.allowsLoopback = allowsLoopback
    }

    /// The value of a key; nil if it is missing or empty.
    subscript(key: String) -> String? { values[key].flatMap { $0.isEmpty ? nil : $0 } }

    /// Reports a problem of a key, or of several keys.
    func report(_ problem: @autoclosure () -> String, _ key: String? = nil) {
        problems.add(problem(), name, key)
    }

    /// Reports each unknown key, which may be a spelling mistake. Keys that begin with `X-` and translated keys are
    /// permitted.
    func expect(_ known: Set<String>) {
        for key in values.keys.sorted() where !known.contains(key) && !key.hasPrefix("X-") {
            if let bracket = key.firstIndex(of: "["), known.contains(String(key[..<bracket])) {
                continue
            }
            report("\(key) in [\(name)] is not a known key; check its spelling.", key)
        }
    }

    func required(_ key: String) -> String? {
        if self[key] == nil { report("\(key) in [\(name)] is missing.", key) }
        return self[key]
    }

    /// Returns a text that is shown to users.
    func line(_ key: String, default standard: String? = nil) -> String {
        guard let value = self[key] ?? standard ?? required(key) else { return "" }
        if value.utf8.count > 100 || ServiceText.line(value) != value {
            report("\(key) in [\(name)] must be one line of at most 100 bytes.", key)
        }
        return value
    }

    /// Returns a single ASCII character; nil if the key is missing.
    func character(_ key: String) -> Character? {
        guard let value = self[key] else { return nil }
        if value.count != 1 || value.utf8.count != 1 {
            report("\(key) in [\(name)] must be one ASCII character.", key)
        }
        return value.first
    }

    func flag(_ key: String) -> Bool {
        if !["true", "false", nil].contains(self[key]) {
            report("\(key) in [\(name)] must be true or false.", key)
        }
        return self[key] == "true"
    }

    /// Returns the values of a list, which are separated by semicolons.
    func list(_ key: String, isRequired: Bool = false) -> [String] {
        let items = (self[key] ?? "").split(separator: ";").map { String($0.trimmed) }
            .filter { !$0.isEmpty }
        if items.isEmpty, isRequired { report("\(key) in [\(name)] is missing.", key) }
        guard items.count <= 100, items.allSatisfy({ ServiceText.line($0) == $0 }) else {
            report("\(key) in [\(name)] must be a list of at most 100 values.", key)
            return []
        }
        return items
    }

    // MARK: Addresses

    /// Returns the hosts to which a plugin may send requests.
    func hosts() -> (patterns: [AllowedHosts.Pattern], origins: Set<String>) {
        var hosts: (patterns: [AllowedHosts.Pattern], origins: Set<String>) = ([], [])
        for name in list("Hosts") {
            if name.contains("://") {
                if let address = loopback(name, "Hosts") { hosts.origins.insert(address.origin) }
            } else if let pattern = AllowedHosts.Pattern(name) {
                hosts.patterns.append(pattern)
            } else {
                report(
                    "“\(name)” in Hosts is not a host, such as example.org, *.example.org, example.org:8443 or *.",
                    "Hosts")
            }
        }
        return hosts
    }

    /// Returns the origins that receive the key or the token.
    func tokenOrigins() -> [String] {
        let key = "TokenHosts"
        return list(key).compactMap { name in
            if name.contains("://") { return loopback(name, key)?.origin }
            if !name.contains("*"), AllowedHosts.Pattern(name) != nil,
                let address = WebAddress("https://\(name)")
            {
                return address.origin
            }
            report("“\(name)” in TokenHosts is not a host, such as api.example.org.", key)
            return nil
        }
    }

    /// Returns the address of an OAuth endpoint.
    func endpoint(_ key: String) -> String {
        guard let text = required(key) else { return "" }
        guard let address = WebAddress(text), address.scheme == .https || address.isLoopback else {
            report("\(key) must be an address that begins with https://.", key)
            return ""
        }
        if address.isLoopback { _ = loopback(text, key) }
        return address.text
    }

    /// Returns an address on this computer, if the configuration permits it.
    private func loopback(_ text: String, _ key: String) -> WebAddress? {
        guard let address = WebAddress(text), address.isLoopback else {
            report("“\(text)” in \(key) is an address; name only its host.", key)
            return nil
        }
        guard allowsLoopback else {
            report(
                "“\(text)” in \(key) is on this computer; set AllowLoopback=true for the provider in imagefeed.conf.",
                key)
            return nil
        }
        return address
    }
}
