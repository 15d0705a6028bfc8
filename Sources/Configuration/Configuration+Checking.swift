extension Configuration {
    /// What the value of a key has to be.
    private enum Kind {
        case flag
        case size
        case port
        case time

        var description: String {
            switch self {
            case .flag: "neither true nor false"
            case .size: "no size, such as 512M"
            case .port: "no port, 1 to 65535"
            case .time: "no length of time, such as 15m"
            }
        }
    }

    /// The keys of our own groups; nil for any value.
    private static let keys: [String: [String: Kind?]] = [
        "Daemon": ["CacheLimit": .size, "Notifications": .flag, "RefreshInterval": .time],
        "Plugins": ["AllowUnsandboxed": .flag],
    ]
    /// Keys that every provider may have. What others mean, the provider knows.
    private static let providerKeys: [String: Kind] = [
        "AllowLoopback": .flag, "Enabled": .flag, "RedirectPort": .port, "ShowSensitive": .flag,
    ]

    /// What is set, and has no effect.
    var ineffective: [Problem] {
        var problems: [Problem] = []
        for (group, values) in groups.sorted(by: { $0.key < $1.key }) {
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                guard let reason = fault(of: value, key, in: group) else { continue }
                problems.append(Problem(path: "[\(group)] \(key)", line: 0, reason: reason))
            }
        }
        return problems
    }

    private func fault(of value: String, _ key: String, in group: String) -> String? {
        let kind: Kind?
        if group.hasPrefix("Provider ") {
            kind = Self.providerKeys[key]
        } else if let known = Self.keys[group] {
            guard let listed = known[key] else { return "there is no such key" }
            kind = listed
        } else {
            // Whoever wants to add something of their own marks it as the Desktop Entry Specification says.
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
        return isRight ? nil : "“\(value.prefix(100))” is \(kind.description)"
    }
}
