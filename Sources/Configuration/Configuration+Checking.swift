extension Configuration {
    /// The type of a key's value.
    private struct Kind: Sendable {
        /// The second half of the error message for a value that is not of this type.
        let mismatch: String
        /// Returns true if the value of a key in a group is of this type.
        let matches: @Sendable (Configuration, _ group: String, _ key: String) -> Bool

        static let flag = Kind(mismatch: "neither true nor false") { $0.bool($1, $2) != nil }
        static let size = Kind(mismatch: "not a size, such as 512M") { $0.bytes($1, $2) != nil }
        static let port = Kind(mismatch: "not a port from 1 to 65535") {
            (1...UInt16.max).contains($0.string($1, $2).flatMap { UInt16($0) } ?? 0)
        }
        static let contact = Kind(
            mismatch: "neither a web address nor a mail address, such as ada@example.org"
        ) { configuration, _, _ in configuration.contact != nil }
        static let time = Kind(mismatch: "not a duration, such as 15m") {
            $0.duration($1, $2) != nil
        }
        static let order = Kind(mismatch: "neither taken nor modified") {
            ["taken", "modified"].contains($0.string($1, $2))
        }
    }

    /// The keys of the groups of the daemon; nil for a key with any value.
    private static let keys: [String: [String: Kind?]] = [
        "Daemon": [
            "CacheLimit": .size, "Contact": .contact, "Notifications": .flag,
            "RefreshInterval": .time,
        ],
        "Plugins": ["AllowUnsandboxed": .flag],
    ]
    private static let serverKeys: [String: Kind?] = ["CertificateFile": nil]
    /// The keys that every provider may have. Other keys are checked by the provider.
    private static let providerKeys: [String: Kind] = [
        "AllowLoopback": .flag, "Enabled": .flag, "Order": .order, "Partners": .flag,
        "RedirectPort": .port,
        "ShowLocation": .flag, "ShowSensitive": .flag,
    ]

    /// The entries that have no effect.
    var ineffective: [Problem] {
        var problems: [Problem] = []
        for group in groups.keys.sorted() {
            for (key, value) in self.group(group).sorted(by: { $0.key < $1.key }) {
                guard let reason = problem(with: value, key, in: group) else { continue }
                problems.append(Problem(path: "[\(group)] \(key)", line: 0, reason: reason))
            }
        }
        return problems
    }

    private func problem(with value: String, _ key: String, in group: String) -> String? {
        let kind: Kind?
        if group.hasPrefix("Provider ") {
            kind = Self.providerKeys[key]
        } else if let known = group.hasPrefix(Self.serverPrefix)
            ? Self.serverKeys : Self.keys[group]
        {
            guard let listed = known[key] else { return "there is no such key" }
            kind = listed
        } else {
            // The Desktop Entry Specification reserves this prefix for extensions.
            return group.hasPrefix("X-") ? nil : "there is no such group"
        }
        guard let kind, !value.isEmpty else { return nil }
        return kind.matches(self, group, key)
            ? nil : "“\(value.prefix(100))” is \(kind.mismatch)"
    }
}
