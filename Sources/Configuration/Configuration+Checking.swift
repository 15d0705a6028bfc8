internal import ProviderKit
internal import Quoting
internal import Translation

extension Configuration {
    /// The type of a key's value.
    private enum Kind {
        case text, flag, size, port, contact, time, order, address, servers

        /// Returns the error message for the value of a key; nil if it is of this type.
        func mismatch(_ configuration: Configuration, _ group: String, _ key: String) -> Message? {
            let text = configuration.string(group, key) ?? ""
            let shown = self == .address ? text.withoutUserInformation : text
            let values: KeyValuePairs = ["value": String(shown.prefix(100))]
            return switch self {
            case .flag where configuration.bool(group, key) == nil:
                Message("“{value}” is neither true nor false", values)
            case .size where configuration.bytes(group, key) == nil:
                Message("“{value}” is not a size, such as 512M", values)
            case .port where UInt16(text.trimmed) ?? 0 == 0:
                Message("“{value}” is not a port from 1 to 65535", values)
            case .contact where configuration.contact == nil:
                Message(
                    "“{value}” is neither a web address nor a mail address, such as ada@example.org",
                    values)
            case .time where configuration.duration(group, key) == nil:
                Message("“{value}” is not a duration, such as 15m", values)
            case .order where text != "taken" && text != "modified":
                Message("“{value}” is neither taken nor modified", values)
            case .address where WebAddress(ofService: text)?.isSafe != true:
                Message(
                    "“{value}” is not an address with https://; http:// is only for this computer",
                    values)
            case .servers where LoopbackServers(text) == nil:
                Message(
                    "“{value}” is not a list of servers on this computer, such as photos.test=http://127.0.0.1:3000",
                    values)
            default: nil
            }
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
    private static let commonKeys: [String: Kind] = [
        "AllowLoopback": .flag, "Enabled": .flag, "ShowLocation": .flag,
    ]
    /// The other keys of the built-in providers. A plugin may have any key.
    private static let providerKeys: [String: [String: Kind]] = [
        "daily": ["ApiUrl": .address],
        "immich": ["Partners": .flag],
        "local": ["Directory": .text, "Exclude": .text, "Order": .order],
        "mastodon": ["LoopbackServers": .servers, "RedirectPort": .port, "ShowSensitive": .flag],
        "nextcloud": ["Exclude": .text],
        "unsplash": [
            "ApiUrl": .address, "ClientId": .text, "RedirectPort": .port, "WebUrl": .address,
        ],
    ]
    private static let pluginKeys: [String: Kind] = ["RedirectPort": .port]

    /// The files, lines and entries that were ignored, in the order of the groups and keys.
    ///
    /// - Parameter plugins: The IDs of the plugins, also of those that are disabled.
    /// - Returns: The problems.
    package func problems(plugins: [String]) -> [Problem] {
        var problems = unreadable
        for group in groups.keys.sorted() {
            for (key, value) in self.group(group).sorted(by: { $0.key < $1.key }) {
                guard let reason = problem(with: value, key, in: group, plugins) else { continue }
                problems.append(Problem(of: key, in: group, at: places[group]?[key], reason))
            }
        }
        return problems
    }

    private func problem(
        with value: String, _ key: String, in group: String, _ plugins: [String]
    ) -> Message? {
        let kind: Kind?
        if group.hasPrefix(Self.providerPrefix) {
            let provider = String(group.dropFirst(Self.providerPrefix.count))
            let own = Self.providerKeys[provider]
            guard own != nil || plugins.contains(provider) else {
                return Message("there is no such provider")
            }
            kind =
                (own ?? Self.pluginKeys)[key] ?? Self.commonKeys[key] ?? (own == nil ? .text : nil)
        } else if group.hasPrefix(Self.serverPrefix), group != Self.serverPrefix {
            let server = String(group.dropFirst(Self.serverPrefix.count))
            guard Self.host(ofServer: server) != nil else {
                return Message("a server is named by its host without a port, such as photos.lan")
            }
            kind = Self.serverKeys[key]
        } else if let keys = Self.keys[group] {
            kind = keys[key]
        } else {
            // The Desktop Entry Specification reserves this prefix for extensions.
            return group.hasPrefix("X-") ? nil : Message("there is no such group")
        }
        guard let kind else { return Message("there is no such key") }
        return value.isEmpty ? nil : kind.mismatch(self, group, key)
    }
}

extension Configuration.Problem {
    /// Creates the problem of a line that sets a key.
    init(of key: String, in group: String, at place: (path: String, line: Int)?, _ reason: Message)
    {
        let name = RawText.bytes(of: "[\(group)] \(key)")
        let entry = Message(verbatim: String(decoding: name, as: UTF8.self))
        self.init(
            path: place?.path ?? "", line: place?.line ?? 0,
            reason: Message("{place}: {reason}", messages: ["place": entry, "reason": reason]))
    }
}
