internal import ArgumentParser
internal import Contract
internal import DBus
internal import JSONFormat
internal import ProviderKit
internal import Translation

struct LikeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "like", abstract: tr("Like a photo."))

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        try await changeLike(of: photo, output) { (true, try await $0.like($1)) }
    }
}

struct UnlikeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlike", abstract: tr("Unlike a photo."))

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        try await changeLike(of: photo, output) { (false, try await $0.unlike($1)) }
    }
}

struct ToggleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "toggle", abstract: tr("Like a photo, or unlike it if it is liked."))

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        try await changeLike(of: photo, output) { try await $0.toggleLike($1) }
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
    try argument.requireIntent()
    let service = try ServiceClient()
    let photo = try await service.photo(argument)
    let server = photo.account.server
    let provider = server.isEmpty ? photo.snapshot.providerName(of: photo.account) : server
    guard photo.account.hasLikes else {
        throw CommandFailure.tr("“{provider}” does not support likes.", ["provider": provider])
    }
    let (liked, outcome) = try await addingHints(for: photo.account) {
        try await change(photo.client, photo.id)
    }
    let result = LikeResult(
        account: photo.account.path, photo: photo.id, liked: liked, outcome: outcome)
    try output.show(result)
    var problem: String?
    // Without the state, the message contains no reason.
    if outcome != .done, let snapshot = try? await service.snapshot(),
        let account = snapshot.accounts.first(where: { $0.path == photo.account.path })
    {
        problem = outcome == .queued ? snapshot.problem(of: account) : account.notices.last
    }
    let message = result.message(
        provider: provider, problem: problem,
        isWithoutUsers: photo.snapshot.provider(of: photo.account)?.isWithoutUsers == true)
    if let message { Console.printMessage(message) }
}

/// The result of a like or unlike.
struct LikeResult: Renderable {
    let account: ObjectPath
    let photo: String
    /// True after a like, false after an unlike, even if it is pending.
    let liked: Bool
    let outcome: LikeOutcome

    var json: JSON {
        [
            "photo": JSON(photo), "account": JSON(account.text), "liked": JSON(liked),
            "outcome": JSON(outcome.rawValue),
        ]
    }

    func text(for target: OutputTarget) -> String {
        let reference = "\(account.lastElement)/\(photo)"
        guard target != .pipe else {
            return TerminalText.fields([reference, liked ? "liked" : "not liked", outcome.rawValue])
        }
        let values: KeyValuePairs = ["photo": reference]
        let text =
            switch (liked, outcome) {
            case (true, .done): tr("Liked {photo}", values)
            case (true, .queued): tr("Liked {photo} (queued)", values)
            case (true, .local): tr("Liked {photo} (on this computer only)", values)
            case (false, .done): tr("Unliked {photo}", values)
            case (false, .queued): tr("Unliked {photo} (queued)", values)
            case (false, .local): tr("Unliked {photo} (on this computer only)", values)
            }
        return TerminalText.fields([text])
    }

    /// Explains an outcome other than `done`.
    ///
    /// - Parameters:
    ///   - provider: The server, or the display name of a provider without servers.
    ///   - problem: The reason why the provider or the account cannot be used, or does not permit likes; nil if there is none.
    ///   - isWithoutUsers: True if the service has no users, and therefore no likes.
    /// - Returns: A message for standard error; nil for `done`.
    func message(
        provider: String, problem: String? = nil, isWithoutUsers: Bool = false
    ) -> String? {
        let values: KeyValuePairs = ["provider": provider]
        let (reason, consequence): (String, String)
        switch (outcome, liked) {
        case (.done, _): return nil
        case (.queued, true):
            reason = tr("{provider} has not confirmed the like.", values)
            consequence = tr("The like is queued and will be sent later.")
        case (.queued, false):
            reason = tr("{provider} has not confirmed the unlike.", values)
            consequence = tr("The unlike is queued and will be sent later.")
        case (.local, true) where isWithoutUsers:
            return tr("{provider} has no likes. The like is stored on this computer.", values)
        case (.local, false) where isWithoutUsers:
            return tr("{provider} has no likes. The unlike is stored on this computer.", values)
        case (.local, _):
            reason = tr(
                "{provider} does not support likes, or does not permit them to this account.",
                values)
            consequence =
                liked
                ? tr(
                    "The like is stored on this computer, and is sent if the service permits it later."
                )
                : tr(
                    "The unlike is stored on this computer, and is sent if the service permits it later."
                )
        }
        return "\(problem ?? reason) \(consequence)"
    }
}
