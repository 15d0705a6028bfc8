internal import BusAPI
internal import DBus

/// An account, as the daemon describes it.
struct AccountRecord {
    let path: ObjectPath
    let properties: [String: Variant]
    /// Whether it has a feed, which an account has as long as it is logged in.
    let isLoggedIn: Bool
    let defaultSource: String?
    /// The photos whose likes wait to be sent; nil where there are no likes, as while logged out.
    let pendingLikes: [String]?
    /// Who the user is; nil where that is not known.
    let profile: [String: Variant]?

    init?(path: ObjectPath, interfaces: [String: [String: Variant]]) {
        guard let properties = interfaces[InterfaceName.account.text] else { return nil }
        self.path = path
        self.properties = properties
        let feed = interfaces[InterfaceName.feed.text]
        isLoggedIn = feed != nil
        defaultSource = feed?["DefaultSource"]?.string
        pendingLikes = interfaces[InterfaceName.like.text].map { $0["Pending"]?.strings ?? [] }
        profile = interfaces[InterfaceName.profile.text]
    }

    var id: String { properties["Id"]?.string ?? Self.id(of: path) }
    var label: String {
        let label = properties["Label"]?.string ?? ""
        return label.isEmpty ? id : label
    }
    /// The user's name, for people; empty if it is not known.
    var name: String { profile?["Name"]?.string ?? "" }
    /// The properties of the account, name and avatar, and the likes that wait to be sent: all that is no page of
    /// its own.
    var json: JSON {
        var all = properties
        for key in ["Name", "Avatar"] { all[key] = profile?[key] }
        all["Pending"] = pendingLikes.map { .array($0.map { .string($0) }, of: "s") }
        return JSON(all, order: PropertyOrder.account + ["Name", "Avatar", "Pending"])
    }
    var providerID: String { properties["Provider"]?.objectPath.map(Self.id) ?? "" }
    var state: String { properties["State"]?.string ?? "" }
    var stateReason: String { properties["StateReason"]?.string ?? "" }
    /// What to type when it is logged out.
    var loginAdvice: String { "Log in with “imagefeedctl login \(providerID) --account \(id)”." }
    /// nil when nothing is tried again by itself.
    var retryAt: Timestamp? {
        properties["RetryAt"]?.int64.flatMap { $0 > 0 ? Timestamp($0) : nil }
    }
    /// nil where the service says nothing.
    var rateLimit: RateLimit? { properties["RateLimit"].flatMap(RateLimit.init) }

    /// The last element of a path, which is the id of the object there.
    static func id(of path: ObjectPath) -> String {
        path.text.split(separator: "/").last.map(String.init) ?? ""
    }
}

/// How many requests a service still allows.
struct RateLimit: Equatable {
    let remaining: UInt32
    let limit: UInt32
    /// 0: unknown.
    let reset: Int64

    init?(_ value: Variant) {
        guard case .structure(let fields) = value, fields.count == 3,
            let remaining = fields[0].uint32, let limit = fields[1].uint32, limit > 0,
            let reset = fields[2].int64
        else { return nil }
        self.remaining = remaining
        self.limit = limit
        self.reset = reset
    }
}
