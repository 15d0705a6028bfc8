/// One account that is logged in, as its provider serves it.
public protocol Session: Sendable {
    /// What happens by itself, in its order: how the session is doing comes first. Read by the
    /// engine alone, until it ends.
    var events: AsyncStream<SessionEvent> { get }

    /// Ends the session: stops what runs in the background and ends ``events``.
    func close()
}

/// What a session tells without being asked.
public enum SessionEvent: Sendable {
    /// How the account is doing.
    case status(SessionStatus)
    /// That many photos came in at the top of a source. 0 where photos only left it.
    case updated(SourceID, new: Int)
    /// Photos as they are now, after something about them changed.
    case changed([Photo])
    /// Photos that are gone for good.
    case removed([PhotoID])
    /// How many requests the service still takes.
    case rateLimit(RateLimit)
    /// How many photos the user of a ``LikeSession`` likes.
    case likes(count: Int)
    /// The profile of a provider that keeps its users itself has changed.
    case profileChanged
}

/// How a session is doing.
public enum SessionStatus: Hashable, Sendable {
    case ready
    /// Nothing to show yet, but soon.
    case loading(reason: String)
    /// The session cannot work. The remedy is nil if the state ends without an action of the user.
    case failed(reason: String, remedy: Remedy? = .retry)
}

/// A session that has photos.
public protocol FeedSession: Session {
    /// One page of a source, in its order.
    ///
    /// Walking on by ``Page/next`` never repeats and never skips a photo that was there when the walk
    /// began, whatever arrives meanwhile.
    ///
    /// - Parameters:
    ///   - source: One of the sources.
    ///   - cursor: nil for the beginning, else the ``Page/next`` of a page of this source.
    ///   - count: 1 to 100.
    /// - Returns: At most `count` photos; none only at the end.
    /// - Throws: ``ProviderError/notFound(_:)`` for a source that does not exist,
    ///   ``ProviderError/invalidArgument(_:)`` for a malformed cursor, ``ProviderError/staleCursor``.
    func page(_ source: SourceID, after cursor: String?, count: Int) async throws -> Page

    /// One photo.
    ///
    /// - Throws: ``ProviderError/notFound(_:)``.
    func photo(_ id: PhotoID) async throws -> Photo

    /// The sources that the account can show, the most natural one first.
    func sources() async throws -> [Source]

    /// Whether a source exists.
    func hasSource(_ id: SourceID) async throws -> Bool

    /// Looks for new photos now. ``SessionEvent/updated(_:new:)`` tells of them, too.
    ///
    /// - Returns: How many photos were not known before.
    func refresh(_ source: SourceID) async throws -> Int
}

/// A session that has the bytes of its photos.
public protocol ImageSession: Session {
    /// The path of a file with the image.
    ///
    /// - Throws: ``ProviderError/notFound(_:)``, ``ProviderError/notSupported(_:)`` for a size that cannot
    ///   be had.
    func imagePath(_ photo: PhotoID, _ size: ImageSize) async throws -> String

    /// The image, opened for reading. The caller closes the descriptor.
    ///
    /// - Throws: What ``imagePath(_:_:)`` throws.
    func openImage(_ photo: PhotoID, _ size: ImageSize) async throws -> Int32
}

/// A session that knows whose it is.
public protocol ProfileSession: Session {
    func profile() async throws -> Profile
}

/// A session whose user can have an avatar made of a photo.
public protocol AvatarSession: ProfileSession {
    /// Makes an image the user's avatar: a square one of its own, which outlives the file.
    ///
    /// - Parameter file: The path of the image. The engine asks for the profile afterwards.
    /// - Throws: ``ProviderError/notSupported(_:)`` where images cannot be made, ``ProviderError/storageFull``,
    ///   ``ProviderError/failed(_:)`` for what is no good image.
    func setAvatar(_ file: String) async throws
}

/// A session that keeps what its user likes itself: at once, and for good.
public protocol LikeSession: FeedSession {
    /// Where the user's liked photos are.
    var likesSource: SourceID { get }

    /// Likes or unlikes.
    ///
    /// - Returns: What has changed; nil if nothing had to. Events do not tell of it.
    /// - Throws: ``ProviderError/notFound(_:)``.
    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> LikeChange?
}

/// What a like has changed.
public struct LikeChange: Hashable, Sendable {
    /// The photo as it is now.
    public var photo: Photo
    /// How many photos the user likes.
    public var count: Int

    public init(photo: Photo, count: Int) {
        self.photo = photo
        self.count = count
    }
}
