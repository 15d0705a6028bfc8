public import Logging

/// The external dependencies of a session.
public struct SessionPorts: Sendable {
    /// The HTTP client, which adds the credentials of the account and follows redirects.
    public let http: any HTTPClient
    /// The settings of the provider.
    public let settings: ProviderSettings
    /// The logger. A plugin writes to the log of the daemon.
    public let logger: Logger
    /// Returns the current time.
    package var now: @Sendable () -> Timestamp = { .now }

    /// Creates the ports.
    public init(http: any HTTPClient, settings: ProviderSettings, logger: Logger) {
        self.http = http
        self.settings = settings
        self.logger = logger
    }
}

/// A session whose photos come from a web service.
///
/// The session only sends requests and maps the responses to the model. The engine caches and orders the photos, splits
/// them into pages for clients, and refreshes them. Every asynchronous call may throw ``ProviderError`` and
/// ``HTTPError``.
public protocol RemoteFeed: Session {
    /// A text that identifies the settings that affect the photos of pages, such as a content filter. The engine does
    /// not show photos that it cached with another value. The default is empty. For a plugin, the daemon uses a hash of
    /// the settings instead.
    var cacheVariant: String { get }

    /// True if the engine shows photos that it cached with other settings, because none can be fetched. The default is
    /// false.
    var showsAllCacheVariants: Bool { get }

    /// Fetches the sources of the account, the default one first.
    ///
    /// - Returns: At most 1000 sources.
    /// - Throws: ``ProviderError``, ``HTTPError``.
    func sources() async throws -> [Source]

    /// Fetches the sources, as ``sources()``. The default calls it. A plugin cannot implement this method.
    ///
    /// - Parameter known: The sources that the engine has stored. Those of a part that cannot be fetched now are returned
    ///   again.
    /// - Returns: At most 1000 sources.
    /// - Throws: ``ProviderError``, ``HTTPError``.
    func sources(keeping known: [Source]) async throws -> [Source]

    /// Returns true if an ID can be that of a source of this provider. Sends no request: ``fetchPage(_:from:)`` reports
    /// a missing topic or user.
    func accepts(_ source: SourceID) -> Bool

    /// Fetches a page of a source.
    ///
    /// - Parameters:
    ///   - source: A source for which ``accepts(_:)`` returns true.
    ///   - pageToken: The ``RemotePage/next`` of the previous page; nil for the newest photos. Accept any text: the token
    ///     may be from an older version.
    /// - Returns: As many photos as the service returns at once, at most 500, newest first. A page may be empty
    ///   although more photos follow.
    /// - Throws: ``ProviderError/notFound(_:)`` if the source does not exist; ``ProviderError/staleCursor`` for an
    ///   invalid token; other errors of ``ProviderError`` and ``HTTPError``.
    func fetchPage(_ source: SourceID, from pageToken: String?) async throws -> RemotePage

    /// True if ``RemotePage/next`` marks the same position after photos were added or removed above it, as the ID of a
    /// photo does. The number of a page does not. The default is false.
    var hasStablePageTokens: Bool { get }

    /// Returns true if the page tokens of a source are stable. The default returns ``hasStablePageTokens``. A plugin
    /// cannot implement this method.
    func hasStablePageTokens(in source: SourceID) -> Bool

    /// Fetches one photo with all its properties.
    ///
    /// - Parameter id: The ID of a photo of any source of the account.
    /// - Returns: The photo.
    /// - Throws: ``ProviderError/notFound(_:)``; other errors of ``ProviderError`` and ``HTTPError``.
    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto

    /// Fetches one photo, as ``fetchPhoto(_:)``. The default calls it. A plugin cannot implement this method.
    ///
    /// - Parameters:
    ///   - id: The ID of the photo.
    ///   - note: The ``RemotePhoto/note`` of the photo in the cache; nil if it is not cached.
    /// - Returns: The photo.
    /// - Throws: The errors of ``fetchPhoto(_:)``.
    func fetchPhoto(_ id: PhotoID, note: String?) async throws -> RemotePhoto

    /// Fetches several photos with all their properties, for ``RemoteLikes/hasLocalLikes``. The default fetches one
    /// after the other. A plugin cannot implement this method.
    ///
    /// - Parameter ids: At most 50 IDs of photos of any source of the account.
    /// - Returns: The photos that were found, in any order.
    /// - Throws: The errors of ``fetchPhoto(_:)`` except ``ProviderError/notFound(_:)``.
    func fetchPhotos(_ ids: [PhotoID]) async throws -> [RemotePhoto]

    /// Reports a download to a service that counts downloads. The default does nothing.
    ///
    /// - Parameter photo: The photo. In a plugin, only its ID and ``RemotePhoto/note`` are set.
    /// - Throws: ``ProviderError``, ``HTTPError``. The download continues.
    func countDownload(_ photo: RemotePhoto) async throws
}

extension RemoteFeed {
    /// The empty text.
    public var cacheVariant: String { "" }
    /// False.
    public var showsAllCacheVariants: Bool { false }
    /// False.
    public var hasStablePageTokens: Bool { false }
    /// The value of ``hasStablePageTokens``.
    public func hasStablePageTokens(in source: SourceID) -> Bool { hasStablePageTokens }
    /// Calls ``sources()``.
    public func sources(keeping known: [Source]) async throws -> [Source] { try await sources() }
    /// Calls ``fetchPhoto(_:)``.
    public func fetchPhoto(_ id: PhotoID, note: String?) async throws -> RemotePhoto {
        try await fetchPhoto(id)
    }
    /// Fetches one photo after the other.
    public func fetchPhotos(_ ids: [PhotoID]) async throws -> [RemotePhoto] {
        var photos: [RemotePhoto] = []
        for id in ids {
            do { photos.append(try await fetchPhoto(id)) } catch ProviderError.notFound {}
        }
        return photos
    }
    /// Does nothing.
    public func countDownload(_ photo: RemotePhoto) async throws {}
}

/// A photo with the addresses of its images.
public struct RemotePhoto: Hashable, Sendable {
    /// The photo.
    public var photo: Photo
    /// The address of each size. The next larger size replaces a missing one.
    public var images: [ImageSize: String]
    /// A text of the provider, at most 4096 bytes, which is passed to ``RemoteImages/imageAddress(_:_:)`` and
    /// ``RemoteFeed/countDownload(_:)`` with the photo.
    public var note: String
    /// True if the response says whether the user likes the photo. If false, the engine ignores ``Photo/isLiked`` and
    /// keeps the known state. The default is true.
    public var hasLikeState = true
    /// The key of the list entry that shows the photo, if the service orders the list by such keys. 1 to 512 bytes of
    /// ASCII from `!` to `}`.
    ///
    /// All photos of an entry have the same key. Each further entry has a lower key, compared byte by byte. A photo may
    /// have several entries: a shared post has another key than the original. Keys let the engine find additions and
    /// removals with fewer requests.
    public var entry: String?

    /// Creates a photo.
    public init(_ photo: Photo, images: [ImageSize: String] = [:], note: String = "") {
        self.photo = photo
        self.images = images
        self.note = note
    }
}

/// A page of a source, in the order of the service.
public struct RemotePage: Hashable, Sendable {
    /// The photos, newest first. At most 500.
    public var photos: [RemotePhoto]
    /// The page token of the next page, at most 4096 bytes. Its form is defined by the provider.
    ///
    /// nil only if the service says that the source ends here, or sent an empty page; never because it sent fewer photos
    /// than requested. The engine requests the end of a source again from time to time.
    public var next: String?
    /// The number of photos in the source; nil if the service does not state it.
    public var total: Int?
    /// The key of the last list entry of the page, with or without photos; nil if the entries have no keys. See
    /// ``RemotePhoto/entry``.
    public var end: String?
    /// True if the service has not collected all entries of the page yet: the engine keeps cached photos that the page
    /// lacks. The default is false. A plugin cannot set it.
    package var isPartial = false

    /// The maximum number of photos of a page.
    package static let maximumCount = 500

    /// Creates a page.
    public init(
        _ photos: [RemotePhoto], next: String? = nil, total: Int? = nil, end: String? = nil
    ) {
        self.photos = photos
        self.next = next
        self.total = total
        self.end = end
    }
}

/// A session that can like photos at its service, or whose likes are stored locally.
public protocol RemoteLikes: RemoteFeed {
    /// True if the service never has likes: the engine stores them on this computer, until the account is removed. It
    /// calls neither ``setLiked(_:_:)`` nor ``RemoteFeed/fetchPage(_:from:)`` for ``likesSource``. The default is
    /// false. A plugin cannot implement this property.
    var hasLocalLikes: Bool { get }

    /// The source with the user's liked photos.
    var likesSource: SourceID { get }

    /// True if ``likesSource`` begins with the latest like. False for another order, such as that of the dates of the
    /// photos: a photo that is missing at its top may be further down. The default is false. A plugin cannot implement
    /// this property.
    var listsLatestLikesFirst: Bool { get }

    /// Returns the prefix of the IDs of a like group: the photos that the service likes as one, such as the photos of a
    /// post.
    ///
    /// - Parameter photo: The ID of a photo.
    /// - Returns: The common prefix; nil if the service likes each photo separately. The default is nil.
    func likeGroupPrefix(_ photo: PhotoID) -> String?

    /// Likes or unlikes a photo. The call is idempotent: a photo that has the state already is not an error, because the
    /// engine repeats a request whose outcome it does not know.
    ///
    /// - Parameters:
    ///   - photo: The ID of the photo.
    ///   - isLiked: True to like, false to unlike.
    /// - Returns: The new number of likes; nil if the service does not state it.
    /// - Throws: ``ProviderError/notFound(_:)`` for a status 404; ``ProviderError/denied(_:)`` if the account cannot
    ///   like photos at all, after which likes are stored locally; ``ProviderError/refused(_:)`` if the service refuses
    ///   this like permanently. Other errors are retried.
    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int?
}

extension RemoteLikes {
    /// False.
    public var hasLocalLikes: Bool { false }
    /// False.
    public var listsLatestLikesFirst: Bool { false }
    /// Returns nil.
    public func likeGroupPrefix(_ photo: PhotoID) -> String? { nil }
}

/// The rate limit of a service.
public struct RateLimit: Hashable, Sendable {
    /// The number of requests that remain until ``reset``.
    public var remaining: Int
    /// The number of requests per period.
    public var limit: Int
    /// The time at which ``remaining`` becomes ``limit`` again; nil if it is unknown.
    public var reset: Timestamp?

    /// Creates a rate limit.
    public init(remaining: Int, limit: Int, reset: Timestamp? = nil) {
        self.remaining = remaining
        self.limit = limit
        self.reset = reset
    }

    /// Reads `X-RateLimit-Limit` and `X-RateLimit-Remaining`. The formats of reset times differ between services, so
    /// ``reset`` is nil.
    ///
    /// Returns nil if a field is missing or invalid, or if the response is from a cache and has the numbers of an
    /// earlier time.
    public init?(_ headers: HTTPHeaders) {
        // Caches send `Age: 0` with a response that they did not store.
        guard headers["Age"] ?? "0" == "0",
            !headers.all("X-Cache").contains(where: { $0.uppercased().contains("HIT") }),
            let limit = headers["X-RateLimit-Limit"].flatMap({ Int($0) }),
            let remaining = headers["X-RateLimit-Remaining"].flatMap({ Int($0) }),
            limit > 0, limit <= Int(UInt32.max), 0...limit ~= remaining
        else { return nil }
        self.init(remaining: remaining, limit: limit)
    }
}

/// A session whose images need credentials, or whose image addresses need a request.
///
/// A session without this protocol has public images: the engine fetches ``RemotePhoto/images`` without credentials.
public protocol RemoteImages: RemoteFeed {
    /// Fetches the address of an image. Called only for photos without ``RemotePhoto/images``.
    ///
    /// - Parameters:
    ///   - photo: The photo. In a plugin, only its ID and ``RemotePhoto/note`` are set.
    ///   - size: The size.
    /// - Returns: The address; nil if the photo has no image of that size.
    /// - Throws: ``ProviderError``, ``HTTPError``.
    func imageAddress(_ photo: RemotePhoto, _ size: ImageSize) async throws -> String?

    /// Returns the address of the file that a download writes; nil for the image of the size ``ImageSize/full``. Sends
    /// no request. A plugin cannot implement this method.
    ///
    /// - Parameter photo: The photo. Its properties may be from the cache.
    /// - Returns: The address.
    func downloadAddress(_ photo: RemotePhoto) -> String?

    /// The client that fetches images. It adds the credentials of the account to requests of its origins. Return
    /// ``SessionPorts/http``.
    var imageClient: any HTTPClient { get }
}

extension RemoteImages {
    /// Returns nil.
    public func imageAddress(_ photo: RemotePhoto, _ size: ImageSize) async throws -> String? {
        nil
    }

    /// Returns nil.
    public func downloadAddress(_ photo: RemotePhoto) -> String? { nil }
}

/// The outcome of a like or unlike. The raw values are those of the D-Bus interface `Like`.
package enum LikeOutcome: String, CaseIterable, Sendable {
    /// The service confirmed it.
    case done
    /// Stored and delivered later, because the network is unavailable or the service limits requests.
    case queued
    /// Stored locally, because the service has no likes.
    case local
}

/// The reply to a like, an unlike or a toggle: the wanted state, and the outcome.
package typealias LikeReply = (isLiked: Bool, outcome: LikeOutcome)
