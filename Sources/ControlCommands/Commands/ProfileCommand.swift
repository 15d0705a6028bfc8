internal import ArgumentParser
internal import BusAPI
internal import DBus

struct ProfileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile", abstract: "Show who the user of an account is.")

    @Argument(help: "An account's ID, or the beginning of one; else the default account.")
    var account: String?
    @Option(
        parsing: .unconditional,
        help: .init("Make a photo the avatar.", valueName: "photo"),
        transform: PhotoReference.init)
    var setAvatar: PhotoReference?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if setAvatar?.id.isEmpty == true { throw ValidationError("The photo has no ID.") }
    }

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let snapshot = try await session.snapshot()
        let owner = try setAvatar?.account.map { (name) throws(CommandFailure) in
            try snapshot.account(name)
        }
        let account = try account(snapshot, owner)
        guard account.profile != nil else {
            throw CommandFailure(
                account.isLoggedIn ? .failed : .needsLogin,
                account.isLoggedIn
                    ? "\(account.id) has no profile."
                    : "\(account.id) is logged out, and has no profile until it is logged in.")
        }
        let client = session.client.account(account.path)
        if let setAvatar {
            let isOwn = owner == nil || owner?.path == account.path
            try await client.setAvatar((isOwn ? "" : "\(owner?.id ?? "")/") + setAvatar.id)
            Console.note("\(account.label) has a new avatar.")
        }
        let profile = ProfileDetails(profile: try await client.properties(.profile))
        try output.show(profile)
        let remark = account.isLoggedIn ? profile.remark : "\(account.id) is logged out."
        if let remark { Console.note(remark) }
    }

    /// The account that is meant: the one that is named; else the photo's, if it can have an avatar, or the
    /// default one.
    private func account(
        _ snapshot: ServiceSnapshot, _ owner: AccountRecord?
    ) throws(CommandFailure) -> AccountRecord {
        if let account { return try snapshot.account(account) }
        guard let owner else { return try snapshot.account(nil) }
        let provider = snapshot.providers.first { $0.id == owner.providerID }
        let keepsAvatars = provider?.capabilities.contains("avatar") ?? true
        return keepsAvatars ? owner : try snapshot.account(nil)
    }
}
