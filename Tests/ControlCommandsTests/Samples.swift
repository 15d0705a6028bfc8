import Contract
import DBus
import ProviderKit

/// Sample data of a daemon with a few accounts.
enum Samples {
    /// The time of the next automatic retry of the rate-limited account.
    static let retryAt: Int64 = 1_795_273_200

    static let snapshot = DaemonMirror(
        manager: [
            "Version": .string("1.2.3"), "Online": .bool(true),
            "DefaultAccount": .objectPath(ServiceName.accounts.appending("local_ada")),
        ],
        objects: [
            ServiceName.providers.appending("local"): [
                InterfaceName.provider.text: provider("local", "Pictures", isConfigured: true)
            ],
            ServiceName.providers.appending("unsplash"): [
                InterfaceName.provider.text: provider("unsplash", "Unsplash", isConfigured: false)
            ],
            ServiceName.accounts.appending("local_ada"): [
                InterfaceName.account.text: account("local_ada", "local", label: "Ada"),
                InterfaceName.feed.text: ["DefaultSource": .string("all")],
            ],
            ServiceName.accounts.appending("local_ada_2"): [
                InterfaceName.account.text: account("local_ada_2", "local", label: "山田"),
                InterfaceName.feed.text: ["DefaultSource": .string("all")],
                InterfaceName.like.text: [
                    "Pending": .array([.string("1"), .string("2")], of: "s")
                ],
                InterfaceName.profile.text: ["Name": .string("山田 花子")],
            ],
            ServiceName.accounts.appending("unsplash_bob"): [
                InterfaceName.account.text: account(
                    "unsplash_bob", "unsplash", label: "Bob\u{1B}[2J", state: "rate-limited",
                    reason: "The hour's requests are used up.")
            ],
        ])

    /// Returns the state of a daemon with providers, and with accounts that are logged out, by their IDs.
    static func snapshot(
        manager: [String: Variant] = [:], accounts: [String: [String: Variant]] = [:],
        providers: [String: [String: Variant]] = [:]
    ) -> DaemonMirror {
        let objects =
            accounts.map { (ServiceName.accounts.appending($0), [InterfaceName.account.text: $1]) }
            + providers.map {
                (ServiceName.providers.appending($0), [InterfaceName.provider.text: $1])
            }
        return DaemonMirror(manager: manager, objects: Dictionary(uniqueKeysWithValues: objects))
    }

    static func provider(_ id: String, _ name: String, isConfigured: Bool) -> [String: Variant] {
        [
            "Id": .string(id), "Name": .string(name), "IconName": .string("image"),
            "Authentication": .string(id == "local" ? "password" : "oauth2"),
            "Capabilities": .array([.string("feed"), .string("like")], of: "s"),
            "State": .string(isConfigured ? "ready" : "not-configured"),
            "Configured": .bool(isConfigured), "RedirectUri": .string(""),
        ]
    }

    static func account(
        _ id: String, _ provider: String, label: String, state: String = "ready",
        reason: String = ""
    ) -> [String: Variant] {
        let isLimited = state == "rate-limited"
        return [
            "Id": .string(id),
            "Provider": .objectPath(ServiceName.providers.appending(provider)),
            "Username": .string(label), "Server": .string(""), "Label": .string(label),
            "State": .string(state), "StateReason": .string(reason),
            "Remedy": .string(["needs-login", "logged-out"].contains(state) ? "login" : ""),
            "RetryAt": .int64(isLimited ? retryAt : 0),
            "RateLimit": .structure([
                .uint32(isLimited ? 2 : 0), .uint32(isLimited ? 50 : 0), .int64(0),
            ]),
        ]
    }

    static func entry(_ id: String, title: String? = nil) -> PhotoEntry {
        var photo = Photo(id: PhotoID(id))
        photo.created = Timestamp(secondsSince1970: 1_795_273_200)
        (photo.width, photo.height) = (6000, 4000)
        photo.title = title
        return PhotoEntry(photo, account: ServiceName.accounts.appending("local_ada"))
    }

    static func photo(_ id: String, title: String? = nil) -> [String: Variant] {
        Dictionary(uniqueKeysWithValues: entry(id, title: title).values.map { ($0.key, $0.value) })
    }
}
