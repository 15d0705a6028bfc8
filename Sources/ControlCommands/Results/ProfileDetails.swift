internal import Contract
internal import DBus
internal import JSONFormat
internal import Translation

/// The profile of an account's user.
struct ProfileDetails: Renderable {
    /// The properties of the interface `Profile`.
    let profile: [String: Variant]

    var json: JSON { JSON(profile, of: .profile) }

    func text(for target: OutputTarget) -> String {
        let members = JSON.members(profile, order: InterfaceName.profile.properties)
        let details = members.map(\.name).compactMap { name in
            profile[name].map {
                (
                    name: target == .pipe ? name : Self.names[name] ?? name,
                    value: Cell(text(name, $0, target))
                )
            }
        }
        return DetailList(details: details.filter { !$0.value.text.isEmpty }).text(for: target)
    }

    /// The reason why the profile may be incomplete; nil if it is complete.
    var message: String? {
        switch profile["State"]?.string {
        case "loading": tr("The profile is still being loaded from the service.")
        case "failed":
            tr("The profile could not be loaded. “imagefeedctl status” shows the reason.")
        default: nil
        }
    }

    /// The names of the properties on a terminal.
    private static let names = [
        "State": tr("State"),
        "Username": tr("Username"),
        // Translators: the full name of a user.
        "Name": tr("Name"),
        // Translators: the text in which a user introduces himself or herself.
        "Bio": tr("Bio"),
        "Location": tr("Location"),
        // Translators: the address of the page of a user.
        "Url": tr("Url"),
        "Avatar": tr("Avatar"),
        // Translators: yes if the profile can be edited.
        "Editable": tr("Editable"),
        "Version": tr("Version"),
    ]

    private func text(_ name: String, _ value: Variant, _ target: OutputTarget) -> String {
        switch value {
        case .string(let text): name == "State" ? target.word(text) : text
        case .bool(let flag): target.word(flag ? "yes" : "no")
        default: JSON(value).text
        }
    }
}
