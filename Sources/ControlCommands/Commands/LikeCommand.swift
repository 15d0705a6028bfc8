internal import ArgumentParser
internal import Contract
internal import ProviderKit
internal import Translation

struct LikeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "like", abstract: tr("Like a photo."))

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        try await changeLike(of: photo, output) { client, photo in
            (true, try await client.like(photo))
        }
    }
}

struct UnlikeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlike", abstract: tr("Unlike a photo."))

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        try await changeLike(of: photo, output) { client, photo in
            (false, try await client.unlike(photo))
        }
    }
}

struct ToggleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "toggle", abstract: tr("Like a photo, or unlike it if it is liked."))

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        try await changeLike(of: photo, output) { client, photo in
            try await client.toggleLike(photo)
        }
    }
}

/// Likes or unlikes a photo, and prints the result.
///
/// - Parameters:
///   - argument: The photo; without one, the current photo of the slideshow.
///   - output: The output options.
///   - change: Calls the daemon. It returns true after a like and false after an unlike, and the outcome.
/// - Throws: ``CommandFailure``, `BusError`.
@MainActor
func changeLike(
    of argument: PhotoArgument, _ output: OutputOptions,
    _ change: (AccountClient, String) async throws -> (liked: Bool, outcome: LikeOutcome)
) async throws {
    let session = try ServiceSession()
    let photo = try await session.photo(argument)
    let provider = photo.snapshot.providerName(of: photo.account)
    guard photo.account.hasLikes else {
        throw CommandFailure(
            .failed,
            tr("“{provider}” does not support likes.", ["provider": provider]))
    }
    let (liked, outcome) = try await namingLogin(of: photo.account) {
        try await change(photo.client, photo.id)
    }
    let result = LikeResult(
        account: photo.account.path, photo: photo.id, liked: liked, outcome: outcome)
    try output.show(result)
    var problem: String?
    if outcome != .done {
        // Without the state, the message contains no reason.
        let snapshot = try? await session.snapshot()
        let account = snapshot?.accounts.first { $0.path == photo.account.path }
        problem =
            outcome == .queued
            ? snapshot?.problem(of: photo.account.path) : account?.notices.last
    }
    let isWithoutUsers = photo.snapshot.providers.contains {
        $0.id == photo.account.providerID && $0.isWithoutUsers
    }
    if let message = result.message(
        provider: provider, problem: problem, isWithoutUsers: isWithoutUsers)
    {
        Console.printMessage(message)
    }
}
