internal import DBus
internal import JSONFormat

/// The profile of an account's user.
struct ProfileDetails: Renderable {
    /// The properties of the interface `Profile`.
    let profile: [String: Variant]

    var json: JSON { JSON(profile, order: PropertyOrder.profile) }

    func text(for target: OutputTarget) -> String {
        let known = PropertyOrder.profile
        let names = known + profile.keys.filter { !known.contains($0) }.sorted()
        let details = names.compactMap { name in
            profile[name].map { (name: name, value: Cell(text($0))) }
        }
        return DetailList(details: details.filter { !$0.value.text.isEmpty }).text(for: target)
    }

    /// The reason why the profile may be incomplete; nil if it is complete.
    var message: String? {
        switch profile["State"]?.string {
        case "loading": "The profile is still being loaded from the service."
        case "failed": "The profile could not be loaded. “imagefeedctl status” shows the reason."
        default: nil
        }
    }

    private func text(_ value: Variant) -> String {
        switch value {
        case .string(let text): text
        case .bool(let flag): flag ? "yes" : "no"
        default: JSON(value).text
        }
    }
}
