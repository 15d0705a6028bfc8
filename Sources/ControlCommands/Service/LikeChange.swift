internal import BusAPI

/// Likes a photo or takes a like back, and prints what has become of it.
///
/// - Parameters:
///   - reference: The photo.
///   - output: How to print.
///   - change: Asks the daemon; gives whether the photo is to be liked, and the outcome.
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
        throw CommandFailure(.failed, "There are no likes in “\(provider)”.")
    }
    let client = session.client.account(account.path)
    let (liked, outcome) = try await change(client, reference.id)
    let answer = LikeAnswer(
        account: account.path, photo: reference.id, liked: liked, outcome: outcome)
    try output.show(answer)
    if let remark = answer.remark(provider: provider) { Console.note(remark) }
}
