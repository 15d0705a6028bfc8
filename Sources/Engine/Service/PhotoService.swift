internal import ProviderKit

/// The source of the photos of an account that is logged in.
protocol PhotoService: AnyObject {
    /// The session that the provider created.
    var session: any Session { get }
    /// The state of the account.
    var state: AccountState { get }

    /// Returns a page; see ``FeedSession/page(_:after:count:)``.
    func page(_ source: SourceID, after cursor: String?, count: Int) async throws -> Page
    /// Returns a page with its cursors; see ``FeedSession/positionedPage(_:after:count:)``.
    func positionedPage(
        _ source: SourceID, after cursor: String?, count: Int
    ) async throws -> PositionedPage
    func photo(_ id: PhotoID) async throws -> Photo
    func sources() async throws -> [Source]
    func hasSource(_ id: SourceID) async throws -> Bool
    func refresh(_ source: SourceID) async throws -> Int
    func imagePath(_ photo: PhotoID, _ size: ImageSize) async throws -> String
    /// Opens an image. The caller closes the descriptor.
    func openImage(_ photo: PhotoID, _ size: ImageSize) async throws -> Int32
    /// Returns the largest image of a photo that exists. The image is not fetched yet.
    func original(_ photo: PhotoID) async throws -> Original
    /// Returns the profile of the user; nil if the provider has no profiles.
    func profile() async throws -> Profile?

    /// Records the status that the session reports.
    func update(_ status: SessionStatus)
    /// Records the rate limit that the service reports.
    func update(_ limit: RateLimit)

    /// Starts the background work.
    func start()
    /// Ends the background work. Calls in progress are completed.
    func close()
}

/// The service of a provider that stores its photos and their order.
final class DirectService: PhotoService {
    let session: any Session
    private(set) var state = AccountState.loading(reason: "The account is being opened.")
    /// The number of photos that the user likes, if the session stores likes.
    var likeCount = 0
    private let name: String
    /// Runs one like at a time.
    private let changes = ChangeQueue()

    /// - Parameters:
    ///   - session: The session that the provider created.
    ///   - name: The name of the provider, as shown to the user.
    init(_ session: any Session, name: String) {
        self.session = session
        self.name = name
    }

    func page(_ source: SourceID, after cursor: String?, count: Int) async throws -> Page {
        try await feed().page(source, after: cursor, count: count)
    }

    func positionedPage(
        _ source: SourceID, after cursor: String?, count: Int
    ) async throws -> PositionedPage {
        try await feed().positionedPage(source, after: cursor, count: count)
    }

    func photo(_ id: PhotoID) async throws -> Photo { try await feed().photo(id) }
    func sources() async throws -> [Source] { try await feed().sources() }
    func hasSource(_ id: SourceID) async throws -> Bool { try await feed().hasSource(id) }
    func refresh(_ source: SourceID) async throws -> Int { try await feed().refresh(source) }

    func imagePath(_ photo: PhotoID, _ size: ImageSize) async throws -> String {
        try await images().imagePath(photo, size)
    }

    func openImage(_ photo: PhotoID, _ size: ImageSize) async throws -> Int32 {
        try await images().openImage(photo, size)
    }

    func original(_ photo: PhotoID) async throws -> Original {
        let images = try images()
        _ = try await feed().photo(photo)
        return Original(
            open: { _ in try await images.openImage(photo, .full) },
            count: {})
    }

    func profile() async throws -> Profile? {
        try await session.profileSession?.profile()
    }

    /// The session, if it stores likes.
    var likes: (any LikeSession)? { session.likeSession }

    /// Likes or unlikes a photo.
    ///
    /// - Parameters:
    ///   - id: The photo.
    ///   - wanted: Returns the new liked state for the current one.
    /// - Returns: The liked state, and the changes.
    /// - Throws: The error of the session; ``EngineError/notSupported(_:)`` if it stores no likes.
    func setLiked(
        _ id: PhotoID, _ wanted: @escaping (Bool) -> Bool
    ) async throws -> (isLiked: Bool, change: LikeChange?) {
        guard let likes else { throw EngineError.notSupported("\(name) has no likes.") }
        return try await changes.run {
            let isWanted = wanted(try await likes.photo(id).isLiked)
            let change = try await likes.setLiked(id, isWanted)
            if let change { likeCount = change.count }
            return (isWanted, change)
        }
    }

    func update(_ status: SessionStatus) {
        state =
            switch status {
            case .ready: .ready
            case .loading(let reason): .loading(reason: reason)
            case .failed(let reason, let remedy): .failed(reason: reason, remedy: remedy)
            }
    }

    func update(_ limit: RateLimit) {}
    func start() {}
    func close() { session.close() }

    private func feed() throws -> any FeedSession {
        guard let feed = session.feedSession else {
            throw EngineError.notSupported("\(name) has no photos.")
        }
        return feed
    }

    private func images() throws -> any ImageSession {
        guard let images = session.imageSession else {
            throw EngineError.notSupported("\(name) has no images.")
        }
        return images
    }
}
