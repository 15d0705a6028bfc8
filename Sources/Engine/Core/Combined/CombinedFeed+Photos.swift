internal import Accounts
package import ProviderKit
internal import Quoting
internal import Translation

/// The photos and likes of the combined account. Each call is a call of the account that has the photo.
extension CombinedFeed {
    /// Returns a photo.
    package func photo(_ photo: String) async throws -> CombinedPhoto {
        try await call(photo) { account, photo in
            CombinedPhoto(account, try await account.photo(photo))
        }
    }

    /// Returns the path of the image of a photo.
    package func imagePath(_ photo: String, size: String) async throws -> String {
        try await call(photo) { account, photo in
            try await account.imagePath(photo, size: size)
        }
    }

    /// Opens the image of a photo. The caller closes the descriptor.
    package func openImage(_ photo: String, size: String, for client: String) async throws -> Int32
    {
        try await call(photo) { account, photo in
            try await account.openImage(photo, size: size, for: client)
        }
    }

    /// Starts a download.
    package func download(
        _ photo: String, into destination: TransferDestination, for client: String
    ) async throws -> Transfer {
        try await call(photo) { account, photo in
            try await account.download(photo, into: destination, for: client)
        }
    }

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

    /// Likes or unlikes a photo; see ``Account/changeLike(of:to:)``.
    package func changeLike(
        of photo: String, to isLiked: Bool?
    ) async throws -> (isLiked: Bool, outcome: LikeOutcome) {
        try await call(photo) { account, photo in
            try await account.changeLike(of: photo, to: isLiked)
        }
    }

    /// The photos of all accounts whose like or unlike is in progress or queued.
    package var pendingLikes: [PhotoID] {
        accounts.flatMap { account in
            account.pendingLikes.map { CombinedPhotoID(account.id, $0).asPhotoID }
        }
    }

    /// The number of photos that the users of all accounts like.
    package var likeCount: Int { accounts.reduce(0) { $0 + $1.likeCount } }

    /// Runs a call of the account that has a photo.
    ///
    /// - Parameters:
    ///   - photo: The ID of the photo in the combined account.
    ///   - body: The call. Its arguments are the account and the ID of the photo within the account.
    /// - Returns: The result of `body`.
    /// - Throws: ``EngineError/notFound(_:)``; the errors of `body`, see ``CombinedPhotoID/translating(_:)``.
    private func call<Value>(
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

/// A photo of the combined account.
package struct CombinedPhoto {
    /// The account that has the photo.
    package let account: Account
    /// The photo, whose ID is that of the combined account.
    package let photo: Photo

    package init(_ account: Account, _ photo: Photo) {
        self.account = account
        self.photo = photo.combined(of: account.id)
    }
}
