internal import BusAPI
internal import DBus

/// The properties of an account on D-Bus.
struct AccountRecord {
    let path: ObjectPath
    let properties: [String: Variant]
    /// True if the account has the interface `Feed`, which only a logged-in account has.
    let isLoggedIn: Bool
    let defaultSource: String?
    /// The photos with a pending like or unlike; nil if the account has no likes, as after a logout.
    let pendingLikes: [String]?
    /// The profile; nil if the account has none.
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
    /// The user's full name; empty if it is unknown.
    var name: String { profile?["Name"]?.string ?? "" }
    /// The properties of the account, with the name and avatar of the profile and the pending likes.
    var json: JSON {
        var all = properties
        for key in ["Name", "Avatar"] { all[key] = profile?[key] }
        all["Pending"] = pendingLikes.map { .array($0.map { .string($0) }, of: "s") }
        return JSON(all, order: PropertyOrder.account + ["Name", "Avatar", "Pending"])
    }
    var providerID: String { properties["Provider"]?.objectPath.map(Self.id) ?? "" }
    var state: String { properties["State"]?.string ?? "" }
    var stateReason: String { properties["StateReason"]?.string ?? "" }
    /// The user's remedy for the state; empty if there is none.
    var remedy: String { properties["Remedy"]?.string ?? "" }
    /// The hint to log in to the account again.
    var loginAdvice: String { "Log in with “imagefeedctl login \(providerID) --account \(id)”." }
    /// The hint for ``remedy``; nil if there is none, or if the reason of the state contains it.
    var advice: String? {
        switch remedy {
        case "login": loginAdvice
        case "unlock": "Unlock the keyring and try again."
        case "install-keyring": "Install or start a keyring, such as gnome-keyring."
        case "configure": "Correct imagefeed.conf; see imagefeed.conf(5)."
        case "free-space": "Free space on the disk."
        default: nil
        }
    }
    /// The exit status of a command that has no result because of the state.
    var status: ProgramStatus {
        switch (remedy, state) {
        case ("login", _): .needsLogin
        case ("configure", _): .notConfigured
        case (_, "loading"): .done
        case (_, "offline"), (_, "rate-limited"), (_, "locked"): .tryLater
        default: .failed
        }
    }
    /// The time of the next automatic retry; nil if there is none.
    var retryAt: Timestamp? {
        properties["RetryAt"]?.int64.flatMap { $0 > 0 ? Timestamp($0) : nil }
    }
    /// The rate limit; nil if it is unknown.
    var rateLimit: RateLimit? { properties["RateLimit"].flatMap(RateLimit.init) }

    /// Sentences about photos, sources and likes that the account cannot have at the service.
    var notices: [String] { properties["Notices"]?.strings ?? [] }

    /// Returns the last element of an object path, which is the ID of the object.
    static func id(of path: ObjectPath) -> String {
        path.text.split(separator: "/").last.map(String.init) ?? ""
    }
}

/// The rate limit of a service.
struct RateLimit: Equatable {
    let remaining: UInt32
    let limit: UInt32
    /// The time when the limit is reset, in seconds since 1970; 0 if it is unknown.
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
