package import EngineModel
package import ProviderKit

/// The external dependencies of a ``LikeSender``: the cache and the service of an account, and its clients.
package protocol LikePorts: AnyObject {
    var clock: any Clock<Duration> { get }
    var now: Timestamp { get }
    /// True if the service never has likes: they are stored locally.
    var hasLocalLikes: Bool { get }
    /// True unless a request would fail now.
    var isAvailable: Bool { get }

    /// Reads the cached photos of a like group, the given one first.
    func cachedPhotos(of photo: PhotoID) async throws -> [Photo]
    /// Fetches a photo that the cache does not have, and stores it there.
    func fetchPhoto(_ photo: PhotoID) async throws -> Photo
    /// Fetches a photo that the service did not find when it was to be liked. If the photo no longer exists, its like group
    /// is removed from the cache, and the error is ``ProviderError/notFound(_:)``.
    func checkPhoto(_ photo: PhotoID) async throws
    /// Sends a like or unlike to the service.
    ///
    /// - Returns: The number of likes of the photo, if the service reports it.
    func send(_ photo: PhotoID, _ isWanted: Bool) async throws -> Int?
    /// Writes the liked state of a like group to the cache, and announces its photos.
    ///
    /// - Returns: The photos of the group that are cached. If the cache cannot be written, there are none, and `isWritten`
    ///   is false.
    func store(_ confirmation: LikeConfirmation) async -> (photos: [Photo], isWritten: Bool)

    func emit(_ event: AccountEvent)
    /// Called after the pending likes were sent, or the attempt failed.
    ///
    /// - Parameter isComplete: False if a like has to be sent again later.
    func likesSent(isComplete: Bool)
}

/// A liked state that the service confirmed, or that is stored locally.
nonisolated package struct LikeConfirmation: Sendable {
    package let photo: PhotoID
    package let isLiked: Bool
    /// The number of likes of the photo, if the service reported it.
    package var likes: Int?
    /// True if the service may have counted the like before the confirmation.
    package var isRepeated = false
    /// True if the state was confirmed earlier, and only its write to the cache is repeated.
    package var isEarlier = false
}
