/// The connection of a logged-in account to its provider.
///
/// Each optional feature is a protocol that refines this one, and a property with the name of that protocol. A type that
/// conforms to ``RemoteLikes`` returns itself as ``remoteLikes``; a type that does not conform returns nil. Implement
/// such a property only if the feature depends on the account: conform to the protocol, and return `self` or nil.
///
/// A class must itself conform to the protocols of its features. The conformance of a subclass does not change a
/// property.
public protocol Session: Sendable {
    /// The events of the session. The first one is a ``SessionEvent/status(_:)``. Only the engine reads them. The
    /// stream ends with ``close()``.
    var events: AsyncStream<SessionEvent> { get }

    /// Closes the session: stops background work and ends ``events``.
    func close()

    /// The session as ``RemoteFeed``; nil if its photos do not come from a web service.
    var remoteFeed: (any RemoteFeed)? { get }
    /// The session as ``RemoteLikes``; nil if its service has no likes.
    var remoteLikes: (any RemoteLikes)? { get }
    /// The session as ``RemoteImages``; nil if its images are public.
    var remoteImages: (any RemoteImages)? { get }
    /// The session as ``ProfileSession``; nil if it has no profile.
    var profileSession: (any ProfileSession)? { get }
    /// The session as ``AvatarSession``; nil if the user cannot set an avatar.
    var avatarSession: (any AvatarSession)? { get }
    /// The session as ``FeedSession``; nil if it does not store its photos itself.
    var feedSession: (any FeedSession)? { get }
    /// The session as ``ImageSession``; nil if it does not store its images itself.
    var imageSession: (any ImageSession)? { get }
    /// The session as ``LikeSession``; nil if it does not store likes itself.
    var likeSession: (any LikeSession)? { get }
}

/// An event of a session. A plugin can send only ``status(_:)`` and ``rateLimit(_:)``.
public enum SessionEvent: Sendable {
    /// The state of the session changed.
    case status(SessionStatus)
    /// New photos are at the top of a source; 0 if photos were only removed.
    case updated(SourceID, new: Int)
    /// Properties of these photos changed.
    case changed([Photo])
    /// These photos are new, with any date. A provider that stores its photos itself also emits ``updated(_:new:)``.
    case added([PhotoID])
    /// These photos were removed.
    case removed([PhotoID])
    /// The service reported its rate limit.
    case rateLimit(RateLimit)
    /// The number of photos that the user of a ``LikeSession`` likes changed.
    case likes(count: Int)
    /// The profile changed, for a provider that stores its users itself.
    case profileChanged
    /// Sentences for the user about photos and sources that the session omits although the service has them, and the
    /// remedies; they replace the earlier ones.
    case notices([String])
}

/// The state of a session.
public enum SessionStatus: Hashable, Sendable {
    /// The session works.
    case ready
    /// There are no photos yet; the reason is a sentence for the user.
    case loading(reason: String)
    /// The session cannot work. The remedy is nil if the state ends without a user action.
    case failed(reason: String, remedy: Remedy? = .retry)
}

/// A session that stores its photos itself, on this computer. See ``RemoteFeed`` for web services.
public protocol FeedSession: Session {
    /// Returns a page of a source.
    ///
    /// A walk along ``Page/next`` neither repeats nor skips a photo that existed at its beginning, even if photos
    /// arrive meanwhile.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - cursor: The ``Page/next`` of the previous page of the source; nil for the beginning.
    ///   - count: The maximum number of photos, 1 to 100.
    /// - Returns: At most `count` photos; no photos only at the end.
    /// - Throws: ``ProviderError/notFound(_:)`` for a missing source, ``ProviderError/invalidArgument(_:)`` for a
    ///   malformed cursor, ``ProviderError/staleCursor``.
    func page(_ source: SourceID, after cursor: String?, count: Int) async throws -> Page

    /// Returns a page with the cursor of every position in it, for the combined feed of all accounts.
    ///
    /// The cursor before the first photo excludes photos that arrive above it later. The default reads one photo, because
    /// ``page(_:after:count:)`` states only the cursor of the next page.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - cursor: A cursor of an earlier page of the source; nil for the beginning.
    ///   - count: The maximum number of photos, 1 to 100.
    /// - Returns: At most `count` photos; no photos only at the end.
    /// - Throws: The errors of ``page(_:after:count:)``.
    func positionedPage(
        _ source: SourceID, after cursor: String?, count: Int
    ) async throws -> PositionedPage

    /// Returns one photo.
    ///
    /// - Parameter id: The ID of the photo.
    /// - Returns: The photo.
    /// - Throws: ``ProviderError/notFound(_:)``.
    func photo(_ id: PhotoID) async throws -> Photo

    /// Returns the sources of the account, the default one first.
    func sources() async throws -> [Source]

    /// Returns true if a source exists.
    func hasSource(_ id: SourceID) async throws -> Bool

    /// Looks for new photos. Also emits ``SessionEvent/updated(_:new:)``.
    ///
    /// - Parameter source: The source.
    /// - Returns: The number of new photos.
    /// - Throws: ``ProviderError``.
    func refresh(_ source: SourceID) async throws -> Int
}

extension FeedSession {
    /// Reads one photo.
    public func positionedPage(
        _ source: SourceID, after cursor: String?, count: Int
    ) async throws -> PositionedPage {
        let page = try await page(source, after: cursor, count: 1)
        return PositionedPage(
            photos: page.photos, cursors: page.photos.isEmpty ? [cursor] : [cursor, page.next],
            hasMore: page.next != nil)
    }
}

/// A session with a source that depends on the present date, such as `memories`.
package protocol DatedFeedSession: FeedSession {
    /// The source that depends on the date.
    var datedSource: SourceID { get }

    /// Starts or ends the watch of ``datedSource``. While it is watched, the session emits
    /// ``SessionEvent/updated(_:new:)`` when the date has changed its photos.
    func setWatched(_ isWatched: Bool)

    /// Checks the date at once, because the machine was suspended.
    func clockChanged()
}

/// A reason for which a photo keeps its ID, although its file moves and the cache is lost.
package enum PhotoMark: Sendable {
    /// The photo is excluded from the slideshow.
    case hidden
    /// The photo is the current one of the slideshow.
    case current
}

/// A session that computes the IDs of photos, and can keep them.
package protocol MarkingSession: FeedSession {
    /// Keeps the IDs of these photos, and no longer those that were kept for the same reason.
    ///
    /// - Parameters:
    ///   - photos: The photos. Unknown ones are ignored.
    ///   - mark: The reason.
    /// - Throws: ``ProviderError``.
    func setMarked(_ photos: Set<PhotoID>, _ mark: PhotoMark) async throws
}

/// A session that stores the images of its photos itself.
public protocol ImageSession: Session {
    /// Returns the path of an image file.
    ///
    /// - Parameters:
    ///   - photo: The ID of the photo.
    ///   - size: The size.
    /// - Returns: An absolute path.
    /// - Throws: ``ProviderError/notFound(_:)``; ``ProviderError/notSupported(_:)`` for a size that is not available.
    func imagePath(_ photo: PhotoID, _ size: ImageSize) async throws -> String

    /// Opens an image for reading. The caller closes the descriptor.
    ///
    /// - Parameters:
    ///   - photo: The ID of the photo.
    ///   - size: The size.
    /// - Returns: A descriptor.
    /// - Throws: The errors of ``imagePath(_:_:)``.
    func openImage(_ photo: PhotoID, _ size: ImageSize) async throws -> Int32
}

/// A session that can fetch the profile of its user.
public protocol ProfileSession: Session {
    /// Fetches the profile.
    ///
    /// - Returns: The profile.
    /// - Throws: ``ProviderError``, ``HTTPError``.
    func profile() async throws -> Profile
}

/// A session whose user can set a photo as avatar.
public protocol AvatarSession: ProfileSession {
    /// Sets the avatar to a square copy of an image, which is independent of the file. The engine fetches the profile
    /// afterwards.
    ///
    /// - Parameter file: The path of the image.
    /// - Throws: ``ProviderError/notSupported(_:)`` without an image helper, ``ProviderError/storageFull``,
    ///   ``ProviderError/failed(_:)`` for an unusable image.
    func setAvatar(_ file: String) async throws
}

/// A session that stores the likes of its user itself.
public protocol LikeSession: FeedSession {
    /// The source with the user's liked photos.
    var likesSource: SourceID { get }

    /// Likes or unlikes a photo. No event reports the change.
    ///
    /// - Parameters:
    ///   - photo: The ID of the photo.
    ///   - isLiked: True to like, false to unlike.
    /// - Returns: The change; nil if the photo already had the state.
    /// - Throws: ``ProviderError/notFound(_:)``.
    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> LikeChange?
}

/// The result of a like.
public struct LikeChange: Hashable, Sendable {
    /// The photo after the change.
    public var photo: Photo
    /// The number of photos that the user likes.
    public var count: Int

    /// Creates a result.
    public init(photo: Photo, count: Int) {
        self.photo = photo
        self.count = count
    }
}
