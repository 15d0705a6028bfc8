internal import ArgumentParser
internal import Contract
internal import DBus
internal import JSONFormat
internal import Translation

struct ProfileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile", abstract: tr("Show the profile of an account's user."))

    @Argument(help: .account)
    var account: String?
    @Option(
        parsing: .unconditional,
        help: .tr("Set the avatar to this photo, then show the profile.", valueName: "photo"),
        transform: PhotoReference.parse)
    var setAvatar: PhotoReference?
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let service = try ServiceClient()
        let snapshot = try await service.snapshot()
        let setAvatar = try setAvatar?.resolved(snapshot)
        let owner = try setAvatar?.account.map { (name) throws(CommandFailure) in
            try snapshot.account(name)
        }
        let account = try account(snapshot, owner)
        guard account.properties(.profile) != nil else {
            throw CommandFailure(
                account.isLoggedIn ? .failed : .needsLogin,
                account.isLoggedIn
                    ? tr("{account} has no profile.", ["account": account.id])
                    : tr(
                        "{account} is logged out and has no stored profile. {advice}",
                        ["account": account.id, "advice": account.loginAdvice])
            )
        }
        let client = service.account(account.path)
        if let setAvatar {
            let isOwn = owner == nil || owner?.path == account.path
            try await client.setAvatar((isOwn ? "" : "\(owner?.id ?? "")/") + setAvatar.id)
            Console.printMessage(tr("{account} has a new avatar.", ["account": account.label]))
        }
        let profile = ProfileDetails(profile: try await client.properties(.profile))
        try output.show(profile)
        let message =
            account.isLoggedIn
            ? profile.message : tr("{account} is logged out.", ["account": account.id])
        if let message { Console.printMessage(message) }
    }

    /// Returns the account whose profile is shown or changed: the account argument, or the photo's account if its
    /// provider supports avatars, or the default account.
    private func account(
        _ snapshot: DaemonMirror, _ owner: AccountProperties?
    ) throws(CommandFailure) -> AccountProperties {
        if let account { return try snapshot.account(account) }
        guard let owner else { return try snapshot.account(nil) }
        let supportsAvatars = snapshot.provider(of: owner)?.capabilities.contains("avatar") ?? true
        return supportsAvatars ? owner : try snapshot.account(nil)
    }
}

/// The profile of an account's user.
struct ProfileDetails: Renderable {
    /// The properties of the interface `Profile`.
    let profile: [String: Variant]

    var json: JSON { JSON(profile, of: .profile) }

    func text(for target: OutputTarget) -> String {
        let names = JSON.members(profile, order: InterfaceName.profile.properties).map(\.name)
            .filter { $0 != "Version" }
        return target.details(
            names.compactMap { name in
                profile[name].map { (target.word(name), target.text(name, $0)) }
            })
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
}
