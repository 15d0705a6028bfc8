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
        help: .init("Make one of the account's photos the avatar.", valueName: "photo"),
        transform: PhotoReference.init)
    var setAvatar: PhotoReference?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if setAvatar?.id.isEmpty == true { throw ValidationError("The photo has no ID.") }
    }

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let snapshot = try await session.snapshot()
        // The photo's account is the account meant, if no other is.
        let account = try snapshot.account(account ?? setAvatar?.account)
        let client = session.client.account(account.path)
        if let setAvatar {
            let owner = try setAvatar.account.map { (name) throws(CommandFailure) in
                try snapshot.account(name)
            }
            guard owner?.path ?? account.path == account.path else {
                throw CommandFailure(
                    .usage, "The photo must be one of \(account.id), whose avatar it shall be.")
            }
            try await client.setAvatar(setAvatar.id)
            Console.note("\(account.label) has a new avatar.")
        }
        guard account.profile != nil else {
            throw CommandFailure(
                account.isLoggedIn ? .failed : .needsLogin,
                account.isLoggedIn
                    ? "\(account.id) has no profile."
                    : "\(account.id) is logged out, and has no profile until it is logged in.")
        }
        let profile = ProfileSheet(profile: try await client.properties(.profile))
        try output.show(profile)
        if let remark = profile.remark { Console.note(remark) }
    }
}
