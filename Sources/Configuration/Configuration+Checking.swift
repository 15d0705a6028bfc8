internal import Translation

extension Configuration {
    /// The type of a key's value.
    private struct Kind: Sendable {
        /// Returns the error message for a value that is not of this type.
        let mismatch: @Sendable (_ value: String) -> Message
        /// Returns true if the value of a key in a group is of this type.
        let matches: @Sendable (Configuration, _ group: String, _ key: String) -> Bool

        /// Any value.
        static let text = Kind(mismatch: Message.init(verbatim:)) { _, _, _ in true }
        static let flag = Kind {
            Message("“{value}” is neither true nor false", ["value": $0])
        } matches: {
            $0.bool($1, $2) != nil
        }
        static let size = Kind {
            Message("“{value}” is not a size, such as 512M", ["value": $0])
        } matches: {
            $0.bytes($1, $2) != nil
        }
        static let port = Kind {
            Message("“{value}” is not a port from 1 to 65535", ["value": $0])
        } matches: {
            (1...UInt16.max).contains($0.string($1, $2).flatMap { UInt16($0) } ?? 0)
        }
        static let contact = Kind {
            Message(
                "“{value}” is neither a web address nor a mail address, such as ada@example.org",
                ["value": $0])
        } matches: { configuration, _, _ in
            configuration.contact != nil
        }
        static let time = Kind {
            Message("“{value}” is not a duration, such as 15m", ["value": $0])
        } matches: {
            $0.duration($1, $2) != nil
        }
        static let order = Kind {
            Message("“{value}” is neither taken nor modified", ["value": $0])
        } matches: {
            ["taken", "modified"].contains($0.string($1, $2))
        }
    }

    /// The keys of the groups of the daemon.
    private static let keys: [String: [String: Kind]] = [
        "Daemon": [
            "CacheLimit": .size, "Contact": .contact, "Notifications": .flag,
            "RefreshInterval": .time,
        ],
        "Plugins": ["AllowUnsandboxed": .flag],
    ]
    private static let serverKeys: [String: Kind] = ["CertificateFile": .text]
    private static let providerPrefix = "Provider "
    /// The keys that every provider has.
    private static let commonKeys: [String: Kind] = ["Enabled": .flag, "ShowLocation": .flag]
    /// The other keys of the built-in providers. A plugin may have any key.
    private static let providerKeys: [String: [String: Kind]] = [
        "daily": ["ApiUrl": .text],
        "immich": ["Partners": .flag],
        "local": ["Directory": .text, "Exclude": .text, "Order": .order],
        "mastodon": ["LoopbackServers": .text, "RedirectPort": .port, "ShowSensitive": .flag],
        "nextcloud": ["Exclude": .text],
        "unsplash": ["ApiUrl": .text, "ClientId": .text, "RedirectPort": .port, "WebUrl": .text],
    ]
    private static let pluginKeys: [String: Kind] = [
        "AllowLoopback": .flag, "RedirectPort": .port,
    ]

    /// The files, lines and entries that were ignored, in the order of the groups and keys.
    ///
    /// - Parameter plugins: The IDs of the plugins.
    /// - Returns: The problems.
    package func problems(plugins: [String]) -> [Problem] {
        var problems = unreadable
        for group in groups.keys.sorted() {
            for (key, value) in self.group(group).sorted(by: { $0.key < $1.key }) {
                guard let reason = problem(with: value, key, in: group, plugins) else { continue }
                let place = places[group]?[key]
                let entry = Message(verbatim: "[\(group)] \(key)")
                problems.append(
                    Problem(
                        path: place?.path ?? "", line: place?.line ?? 0,
                        reason: Message(
                            "{place}: {reason}", messages: ["place": entry, "reason": reason])))
            }
        }
        return problems
    }

    private func problem(
        with value: String, _ key: String, in group: String, _ plugins: [String]
    ) -> Message? {
        let kind: Kind?
        let noSuchKey = Message("there is no such key")
        if group.hasPrefix(Self.providerPrefix) {
            let provider = String(group.dropFirst(Self.providerPrefix.count))
            if let known = Self.providerKeys[provider] {
                guard let listed = known[key] ?? Self.commonKeys[key] else { return noSuchKey }
                kind = listed
            } else if plugins.contains(provider) || bool(group, "Enabled") == false {
                kind = Self.pluginKeys[key] ?? Self.commonKeys[key]
            } else {
                return Message("there is no such provider")
            }
        } else if let known = group.hasPrefix(Self.serverPrefix)
            ? Self.serverKeys : Self.keys[group]
        {
            guard let listed = known[key] else { return noSuchKey }
            kind = listed
        } else {
            // The Desktop Entry Specification reserves this prefix for extensions.
            return group.hasPrefix("X-") ? nil : Message("there is no such group")
        }
        guard let kind, !value.isEmpty, !kind.matches(self, group, key) else { return nil }
        return kind.mismatch(String(value.prefix(100)))
    }
}
