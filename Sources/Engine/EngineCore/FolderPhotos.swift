internal import EngineModel
internal import ProviderKit
internal import Services
internal import System
internal import Translation

/// The photos of a user of this computer.
final class FolderPhotos: AccountPhotos {
    private(set) var state = AccountState.loading(reason: Message("The account is being opened."))
    var likeCount = 0
    private let session: any FolderSession
    private weak var owner: Account?
    /// Runs one like at a time.
    private let changes = ChangeQueue()
    private var isClosed = false

    init(_ session: any FolderSession, owner: Account) {
        self.session = session
        self.owner = owner
    }

    var events: AsyncStream<SessionEvent> { session.events }

    // MARK: Photos

    func page(
        _ source: SourceID, after cursor: String?, count: Int, fillsGaps: Bool
    ) async throws -> Page {
        try await session.page(source, after: cursor, count: count)
    }

    func photo(_ id: PhotoID) async throws -> Photo { try await session.photo(id) }
    func cachedPhoto(_ id: PhotoID) async throws -> Photo? { try await session.photo(id) }
    func sources() async throws -> [Source] { try await session.sources() }
    func hasSource(_ id: SourceID) async throws -> Bool { try await session.hasSource(id) }
    func refresh(_ source: SourceID) async throws -> Int { try await session.refresh(source) }

    func setMarked(_ photos: Set<PhotoID>, _ mark: PhotoMark) async throws {
        try await session.setMarked(photos, mark)
    }

    // MARK: Images

    func imagePath(_ photo: PhotoID, _ size: ImageSize) async throws -> String {
        try await updatingDisk { try await session.imagePath(photo, size) }
    }

    func cachedImage(_ photo: PhotoID, _ size: ImageSize) async throws -> String? {
        try await imagePath(photo, size)
    }

    func openImage(_ photo: PhotoID, _ size: ImageSize) async throws -> Int32 {
        try await updatingDisk { try await session.openImage(photo, size) }
    }

    /// Runs `body`, which may store a thumbnail, and updates the state of the disk.
    private func updatingDisk<Value>(_ body: () async throws -> Value) async throws -> Value {
        let disk = owner?.engine.stores.disk
        do {
            let value = try await body()
            if disk?.isFull == true { disk?.check() }
            return value
        } catch ProviderError.storageFull {
            disk?.recordFullDisk()
            throw ProviderError.storageFull
        }
    }

    func original(_ photo: PhotoID) async throws -> Original {
        _ = try await session.photo(photo)
        return (open: { [session] _ in try await session.openImage(photo, .full) }, count: {})
    }

    // MARK: Likes

    var likesSource: SourceID? { session.likesSource }
    var pendingLikes: [PhotoID]? { [] }
    func isLikePending(_ photo: PhotoID) -> Bool { false }

    func setLiked(_ photo: PhotoID, _ isLiked: Bool?) async throws -> LikeReply {
        let (isWanted, change) = try await changes.run { [self] in
            let isWanted =
                if let isLiked { isLiked } else { try await !session.photo(photo).isLiked }
            let change = try await session.setLiked(photo, isWanted)
            if let change { likeCount = change.count }
            return (isWanted, change)
        }
        // A change is not announced if the account was logged out in the meantime.
        if let change, !isClosed {
            owner?.emit(.photosChanged([change.photo]))
            owner?.emit(.updated(session.likesSource, new: isWanted ? 1 : 0))
            owner?.emit(.likeConfirmed(photo, isLiked: isWanted, likes: change.photo.likes ?? 0))
        }
        return (isWanted, .done)
    }

    // MARK: Profile

    func setAvatar(_ file: String) async throws { try await session.setAvatar(file) }

    // MARK: Watches

    var refreshPermission: RefreshPermission { session.hasUnreportedFolders ? .permitted : .denied }
    func refreshWatched(_ source: SourceID) async { await session.refreshUnreported() }
    var datedSource: SourceID? { session.datedSource }
    func setWatched(_ isWatched: Bool) { session.setWatched(isWatched) }

    // MARK: Changes

    func update(_ status: SessionStatus) {
        let before = state
        state = AccountState(status)
        guard state != before else { return }
        owner?.emit(.changed(.state))
        // For example, a folder became available or unavailable.
        owner?.emit(.changed(.feed))
    }

    func resumed() { session.clockChanged() }

    func start() { Task { [weak owner] in try? await owner?.refreshProfile() } }

    func close() {
        isClosed = true
        session.close()
    }
}
