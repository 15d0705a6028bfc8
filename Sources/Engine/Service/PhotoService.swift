internal import ProviderKit

/// What an account that is logged in gets its photos from.
protocol PhotoService: AnyObject {
    /// The session that the provider made.
    var session: any Session { get }
    /// How the account is doing.
    var state: AccountState { get }

    /// One page, as ``FeedSession/page(_:after:count:)`` describes it.
    func page(_ source: SourceID, after cursor: String?, count: Int) async throws -> Page
    func photo(_ id: PhotoID) async throws -> Photo
    func sources() async throws -> [Source]
    func hasSource(_ id: SourceID) async throws -> Bool
    func refresh(_ source: SourceID) async throws -> Int
    func imagePath(_ photo: PhotoID, _ size: ImageSize) async throws -> String
    /// The caller closes the descriptor.
    func openImage(_ photo: PhotoID, _ size: ImageSize) async throws -> Int32
    /// The best there is of a photo that exists; it is not fetched yet.
    func original(_ photo: PhotoID) async throws -> Original
    /// nil where nobody says.
    func profile() async throws -> Profile?

    /// Takes note of what the session tells about itself.
    func note(_ status: SessionStatus)
    func note(_ limit: RateLimit)

    /// Begins what goes on in the background.
    func start()
    /// Ends everything. What is under way still gets its answer.
    func close()
}

/// A provider that has its photos at hand and keeps their order itself.
final class DirectService: PhotoService {
    let session: any Session
    private(set) var state = AccountState.loading(reason: "The account is being opened.")
    /// How many photos the user likes, where the session keeps likes.
    var likeCount = 0
    private let name: String
    /// One like at a time.
    private let changes = ChangeQueue()

    /// - Parameters:
    ///   - session: What the provider made.
    ///   - name: What a person calls the provider.
    init(_ session: any Session, name: String) {
        self.session = session
        self.name = name
    }

    func page(_ source: SourceID, after cursor: String?, count: Int) async throws -> Page {
        try await feed().page(source, after: cursor, count: count)
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
        try await (session as? any ProfileSession)?.profile()
    }

    /// The session, if it keeps likes.
    var likes: (any LikeSession)? { session as? any LikeSession }

    /// Likes what is not liked, or the other way round.
    ///
    /// - Parameters:
    ///   - id: The photo.
    ///   - wanted: What is wanted, of what is so.
    /// - Returns: Whether the photo is liked now, and what that has changed.
    /// - Throws: What the session throws; ``EngineError/notSupported(_:)`` if it keeps no likes.
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

    func note(_ status: SessionStatus) {
        state =
            switch status {
            case .ready: .ready
            case .loading(let reason): .loading(reason: reason)
            case .failed(let reason, let remedy): .failed(reason: reason, remedy: remedy)
            }
    }

    func note(_ limit: RateLimit) {}
    func start() {}
    func close() { session.close() }

    private func feed() throws -> any FeedSession {
        guard let feed = session as? any FeedSession else {
            throw EngineError.notSupported("\(name) has no photos to show.")
        }
        return feed
    }

    private func images() throws -> any ImageSession {
        guard let images = session as? any ImageSession else {
            throw EngineError.notSupported("\(name) has no images to show.")
        }
        return images
    }
}
