internal import EngineModel
package import ProviderKit
internal import Quoting

/// The photos and likes of the combined account.
extension CombinedFeed {
    /// Fetches the newest photos of all accounts of a source; empty for the default source.
    ///
    /// - Returns: The number of new photos.
    /// - Throws: The first error if all accounts fail.
    package func refreshFeed(_ source: String) async throws -> Int {
        let source = resolve(source)
        try check(source)
        let tasks = members(of: source).map { account, source in
            Task.immediate { try await account.refreshFeed(source.text) }
        }
        var results: [Result<Int, any Error>] = []
        for task in tasks { results.append(await task.result) }
        let new = results.compactMap { try? $0.get() }
        if new.isEmpty, let first = results.first { return try first.get() }
        return new.reduce(0, +)
    }

    /// The photos of all accounts whose like or unlike is in progress or queued.
    package var pendingLikes: [PhotoID] {
        accounts.flatMap { account in
            account.pendingLikes.map { CombinedPhotoID(account.id, $0).asPhotoID }
        }
    }

    /// The number of photos that the users of all accounts like.
    package var likeCount: Int {
        accounts.reduce(0) { $0 + min($1.likeCount, Int(UInt32.max)) }
    }

    /// Runs a call of the account that has a photo.
    ///
    /// - Parameters:
    ///   - photo: The ID of the photo in the combined account.
    ///   - body: The call. Its arguments are the account and the ID of the photo within the account.
    /// - Returns: The result of `body`.
    /// - Throws: ``EngineError/notFound(_:)``; the errors of `body`, see ``CombinedPhotoID/translating(_:)``.
    package func call<Value>(
        _ photo: String, _ body: (Account, String) async throws -> Value
    ) async throws -> Value {
        guard let id = CombinedPhotoID(photo),
            let account = accounts.first(where: { $0.id == id.account })
        else { throw EngineError.notFound("There is no photo \(photo.quoted).") }
        do {
            return try await body(account, id.photo.text)
        } catch {
            throw id.translating(error)
        }
    }
}
