internal import BusAPI

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
    _ change: (AccountClient, String) async throws -> (liked: Bool, outcome: String)
) async throws {
    let session = try ServiceSession()
    let photo = try await session.photo(argument)
    let provider = photo.snapshot.providerName(of: photo.account)
    guard photo.account.pendingLikes != nil else {
        throw CommandFailure(.failed, "“\(provider)” does not support likes.")
    }
    let (liked, outcome) = try await change(photo.client, photo.id)
    let result = LikeResult(
        account: photo.account.path, photo: photo.id, liked: liked, outcome: outcome)
    try output.show(result)
    var problem: String?
    if LikeOutcome(rawValue: outcome) == .queued {
        // Without the state, the message contains no reason.
        problem = try? await session.snapshot().problem(of: photo.account.path)
    }
    if let message = result.message(provider: provider, problem: problem) {
        Console.printMessage(message)
    }
}
