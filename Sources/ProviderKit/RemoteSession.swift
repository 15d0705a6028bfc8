public import Logging

/// What a session is handed to work with.
public struct SessionPorts: Sendable {
    /// Carries the account's credentials, keeps to rate limits, follows redirects.
    public let http: any HTTPClient
    public let settings: ProviderSettings
    public let logger: Logger

    public init(http: any HTTPClient, settings: ProviderSettings, logger: Logger) {
        self.http = http
        self.settings = settings
        self.logger = logger
    }
}

/// A session whose photos come over the network.
///
/// It only asks and translates: the engine keeps what it answers, orders it, hands it out in pages, and
/// asks again when it is old. Every call may throw ``ProviderError`` and ``HTTPError``.
public protocol RemoteFeed: Session {
    /// What its settings let through, in words of its own: what was kept with other settings is not shown.
    var view: String { get }

    /// True if photos that were kept with other settings are shown, the latest ones, because none can be fetched.
    var showsEveryView: Bool { get }

    /// The sources that the account can show, the most natural one first.
    func sources() async throws -> [Source]

    /// Whether an id can be that of a source here. Asks nobody: whether there is such a topic or user,
    /// the service says when it is fetched.
    func accepts(_ source: SourceID) -> Bool

    /// Photos of a source.
    ///
    /// - Parameters:
    ///   - source: One that ``accepts(_:)`` takes.
    ///   - place: nil for the newest ones, else ``RemotePage/next``.
    /// - Returns: As many as the service gives at once; maybe none though more follow.
    /// - Throws: ``ProviderError/notFound(_:)`` when there is no such topic or user.
    func fetchPage(_ source: SourceID, from place: String?) async throws -> RemotePage

    /// Whether ``RemotePage/next`` leads to the same place for good, whatever comes and goes further up, as one
    /// does that names a photo. The number of a page does not; false unless you say so.
    var hasStablePageTokens: Bool { get }

    /// One photo, with all that the service tells of it.
    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto

    /// Tells the service that a photo is being downloaded or set as something, where it counts that.
    func countDownload(_ photo: RemotePhoto) async throws
}

extension RemoteFeed {
    public var view: String { "" }
    public var showsEveryView: Bool { false }
    public var hasStablePageTokens: Bool { false }
    public func countDownload(_ photo: RemotePhoto) async throws {}
}

/// A photo, and where its images are.
public struct RemotePhoto: Hashable, Sendable {
    public var photo: Photo
    /// The address of each size. A size that is missing is served by the next larger one.
    public var images: [ImageSize: String]
    /// Words of the provider that it wants to have back with the photo.
    public var note: String
    /// Whether the service said that the user likes the photo, or does not. Where it did not say,
    /// ``Photo/isLiked`` means nothing, and what is known stands.
    public var saysWhetherLiked = true
    /// The key of the list entry that shows the photo, if the service orders the list by such keys: the same for all
    /// photos of an entry, and lower for each further entry when compared byte by byte. A photo may have several entries:
    /// one that is passed on has another key than the original. 1 to 512 bytes of ASCII from `!` to `}`.
    public var entry: String?

    public init(_ photo: Photo, images: [ImageSize: String] = [:], note: String = "") {
        self.photo = photo
        self.images = images
        self.note = note
    }
}

/// Photos of a source, in its order, as a service gives them.
public struct RemotePage: Hashable, Sendable {
    public var photos: [RemotePhoto]
    /// Where the next ones begin, in the provider's own words; nil at the end.
    public var next: String?
    /// How many the source has in all; nil where the service does not say.
    public var total: Int?
    /// The key of the last list entry of the page, whether it shows photos or not; nil if the entries have no keys. See
    /// ``RemotePhoto/entry``.
    public var end: String?

    public init(
        _ photos: [RemotePhoto], next: String? = nil, total: Int? = nil, end: String? = nil
    ) {
        self.photos = photos
        self.next = next
        self.total = total
        self.end = end
    }
}

/// A session that can like photos at its service.
public protocol RemoteLikes: RemoteFeed {
    /// Where the user's liked photos are.
    var likesSource: SourceID { get }

    /// The beginning of the ids of all photos that are liked as one with a photo: what is done to one of them
    /// is done to all. nil where each is liked by itself.
    func likedTogether(_ photo: PhotoID) -> String?

    /// Likes or unlikes. Doing it twice is no error.
    ///
    /// - Returns: How many people like the photo now; nil where the service does not say.
    /// - Throws: ``ProviderError/notFound(_:)`` for a 404, whether the photo or the likes are gone;
    ///   ``ProviderError/denied(_:)`` when the account may not like photos at all;
    ///   ``ProviderError/refused(_:)`` when the service refuses this like and would refuse it again.
    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int?
}

extension RemoteLikes {
    public func likedTogether(_ photo: PhotoID) -> String? { nil }
}

/// How many requests a service still takes.
public struct RateLimit: Hashable, Sendable {
    public var remaining: Int
    public var limit: Int
    /// When ``remaining`` becomes ``limit`` again; nil if that is not known.
    public var reset: Timestamp?

    public init(remaining: Int, limit: Int, reset: Timestamp? = nil) {
        self.remaining = remaining
        self.limit = limit
        self.reset = reset
    }

    /// Reads the numbers of `X-RateLimit-*`; the time, which every service writes in its own way, is left out.
    ///
    /// - Returns: nil where they are not said, or were said to somebody else: what a cache has kept has the
    ///   numbers of the time when it was made.
    public init?(_ headers: HTTPHeaders) {
        // The caches in front of a service say `Age: 0` of what they did not keep.
        guard headers["Age"] ?? "0" == "0",
            !headers.all("X-Cache").contains(where: { $0.uppercased().contains("HIT") }),
            let limit = headers["X-RateLimit-Limit"].flatMap({ Int($0) }),
            let remaining = headers["X-RateLimit-Remaining"].flatMap({ Int($0) }),
            limit > 0, limit <= Int(UInt32.max), 0...limit ~= remaining
        else { return nil }
        self.init(remaining: remaining, limit: limit)
    }
}
