internal import DBus

/// Who the user of an account is.
struct ProfileDetails: Renderable {
    /// The properties of the interface `Profile`.
    let profile: [String: Variant]

    var json: JSON { JSON(profile, order: PropertyOrder.profile) }

    func text(for medium: OutputTarget) -> String {
        let known = PropertyOrder.profile
        let names = known + profile.keys.filter { !known.contains($0) }.sorted()
        let facts = names.compactMap { name in
            profile[name].map { (name: name, value: Cell(text($0))) }
        }
        return DetailList(facts: facts.filter { !$0.value.text.isEmpty }).text(for: medium)
    }

    /// Why it may say less than there is.
    var remark: String? {
        switch profile["State"]?.string {
        case "loading": "The service has not answered yet."
        case "failed": "The service did not answer; “imagefeedctl status” tells why."
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
