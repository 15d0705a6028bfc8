package import EngineModel
package import ProviderKit

/// The photos of an account that is logged in: those of a service, or those of a folder on this computer.
package protocol AccountPhotos: AnyObject {
    /// The events of the session that the provider created.
    var events: AsyncStream<SessionEvent> { get }
    /// The state of the account.
    var state: AccountState { get }

    // MARK: Photos

    /// Returns a page of a source.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - cursor: The position after which the page begins; nil for the beginning.
    ///   - count: The number of photos at most.
    ///   - fillsGaps: False if the page ends with the cached photos, so that they are returned without a request to the
    ///     service. A page without photos is fetched.
    /// - Returns: The page.
    /// - Throws: ``ProviderError``, ``HTTPError``, ``EngineError``.
    func page(
        _ source: SourceID, after cursor: String?, count: Int, fillsGaps: Bool
    ) async throws -> Page
    func photo(_ id: PhotoID) async throws -> Photo
    /// Returns a photo without a request to a service; nil if it is not cached.
    func cachedPhoto(_ id: PhotoID) async throws -> Photo?
    func sources() async throws -> [Source]
    func hasSource(_ id: SourceID) async throws -> Bool
    /// Fetches the newest photos of a source.
    ///
    /// - Returns: The number of new photos.
    func refresh(_ source: SourceID) async throws -> Int
    /// Keeps the IDs of photos that are computed, and no longer those that were kept for the same reason.
    func setMarked(_ photos: Set<PhotoID>, _ mark: PhotoMark) async throws

    // MARK: Images

    func imagePath(_ photo: PhotoID, _ size: ImageSize) async throws -> String
    /// Returns the path of an image without a request to a service; nil if it is not cached.
    func cachedImage(_ photo: PhotoID, _ size: ImageSize) async throws -> String?
    /// Opens an image. The caller closes the descriptor.
    func openImage(_ photo: PhotoID, _ size: ImageSize) async throws -> Int32
    /// Returns the largest image of a photo that exists. The image is not fetched yet.
    func original(_ photo: PhotoID) async throws -> Original

    // MARK: Likes

    /// The source with the liked photos; nil if photos cannot be liked.
    var likesSource: SourceID? { get }
    /// The photos whose like or unlike is in progress or queued; nil until they are loaded.
    var pendingLikes: [PhotoID]? { get }
    /// Returns true if the like or unlike of a photo, or of another photo of its like group, is in progress or queued.
    func isLikePending(_ photo: PhotoID) -> Bool
    /// The number of photos that the user likes; 0 while it is unknown.
    var likeCount: Int { get set }
    /// Likes or unlikes a photo.
    ///
    /// - Parameters:
    ///   - photo: The photo.
    ///   - isLiked: The new state; nil for the opposite of the present one. A pending like or unlike counts as confirmed.
    /// - Returns: The new state, and the outcome.
    /// - Throws: The errors of ``Likes/change(_:_:)``.
    func setLiked(_ photo: PhotoID, _ isLiked: Bool?) async throws -> LikeReply
    func setAvatar(_ file: String) async throws

    // MARK: Watches

    /// The source whose photos depend on the date, without an event while it is not watched; nil for none.
    var datedSource: SourceID? { get }
    /// Starts or ends the watch of ``datedSource``.
    func setWatched(_ isWatched: Bool)
    /// The permission to send a request that no client waits for.
    var refreshPermission: RefreshPermission { get }
    /// Refreshes a watched source. Returns when the refresh succeeded or failed.
    func refreshWatched(_ source: SourceID) async

    // MARK: Changes

    /// Records the status that the session reports.
    func update(_ status: SessionStatus)
    /// Continues after a suspend of the machine.
    func resumed()
    /// Starts the background work.
    func start()
    /// Ends the background work. Calls in progress are completed.
    func close()
}

/// The image of a photo in the best available quality: a function that opens the image, which is fetched if necessary,
/// and one that reports the download to a service that counts downloads. The caller closes the descriptor.
package typealias Original = (
    open: @MainActor (_ progress: @escaping (HTTPProgress) -> Void) async throws -> Int32,
    count: @MainActor () async throws -> Void
)

/// The permission to send a request that no client waits for.
nonisolated package enum RefreshPermission: Hashable {
    case permitted
    /// Not permitted until the state of the account or of the network changes.
    case denied
    /// Not permitted until a time in the future.
    case deniedUntil(Timestamp)
}
