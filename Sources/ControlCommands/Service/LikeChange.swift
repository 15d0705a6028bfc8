internal import BusAPI

/// Likes or unlikes a photo, and prints the result.
///
/// - Parameters:
///   - reference: The photo.
///   - output: The output options.
///   - change: Calls the daemon. It returns true after a like and false after an unlike, and the outcome.
/// - Throws: ``CommandFailure``, `BusError`.
@MainActor
func changeLike(
    of reference: PhotoReference, _ output: OutputOptions,
    _ change: (AccountClient, String) async throws -> (liked: Bool, outcome: String)
) async throws {
    let session = try ServiceSession()
    let snapshot = try await session.snapshot()
    let account = try snapshot.loggedInAccount(reference.account)
    let provider = snapshot.providerName(of: account)
    guard account.pendingLikes != nil else {
        throw CommandFailure(.failed, "“\(provider)” does not support likes.")
    }
    let client = session.client.account(account.path)
    let (liked, outcome) = try await change(client, reference.id)
    let result = LikeResult(
        account: account.path, photo: reference.id, liked: liked, outcome: outcome)
    try output.show(result)
    if let message = result.message(provider: provider) { Console.printMessage(message) }
}
