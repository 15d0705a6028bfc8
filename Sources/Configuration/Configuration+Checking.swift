extension Configuration {
    /// The type of a key's value.
    private enum Kind {
        case flag
        case size
        case port
        case time

        /// The second half of the error message for a value that is not of this type.
        var mismatch: String {
            switch self {
            case .flag: "neither true nor false"
            case .size: "not a size, such as 512M"
            case .port: "not a port from 1 to 65535"
            case .time: "not a duration, such as 15m"
            }
        }
    }

    /// The keys of the groups of the daemon; nil for a key with any value.
    private static let keys: [String: [String: Kind?]] = [
        "Daemon": ["CacheLimit": .size, "Notifications": .flag, "RefreshInterval": .time],
        "Plugins": ["AllowUnsandboxed": .flag],
    ]
    private static let serverKeys: [String: Kind?] = ["CertificateFile": nil]
    /// The keys that every provider may have. Other keys are checked by the provider.
    private static let providerKeys: [String: Kind] = [
        "AllowLoopback": .flag, "Enabled": .flag, "RedirectPort": .port, "ShowLocation": .flag,
        "ShowSensitive": .flag,
    ]

    /// The entries that have no effect.
    var ineffective: [Problem] {
        var problems: [Problem] = []
        for (group, values) in groups.sorted(by: { $0.key < $1.key }) {
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
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
        let isRight =
            switch kind {
            case .flag: bool(group, key) != nil
            case .size: bytes(group, key) != nil
            case .port: UInt16(value).map { $0 > 0 } ?? false
            case .time: duration(group, key) != nil
            }
        return isRight ? nil : "“\(value.prefix(100))” is \(kind.mismatch)"
    }
}
