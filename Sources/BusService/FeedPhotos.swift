internal import Accounts
internal import Contract
internal import DBus
internal import Engine
internal import Feeds
internal import ProviderKit

/// The photos of a ``FeedObject``: those of an account, or of the combined account.
protocol FeedPhotos {
    var defaultSource: SourceID { get }
    /// The current time.
    var now: Timestamp { get }
    /// True if pages expire, because their photos are at a remote service.
    var hasAgingPages: Bool { get }
    /// The IDs of the photos whose like or unlike is in progress or queued.
    var pendingLikes: [PhotoID] { get }
    var likeCount: Int { get }

    /// Returns the source that a call selects: the default source for an empty text.
    func resolve(_ source: String) -> SourceID
    /// Returns a page. `isComplete` is false if the page must not be stored.
    func page(
        _ key: PreparedPageCache.Key
    ) async throws -> (photos: [PhotoEntry], next: String, isComplete: Bool)
    /// Returns true if the default source does not exist and another one takes its place.
    func hasReplaced(defaultSource source: SourceID) async -> Bool
    /// Records that a client received a stored first page, and refreshes the source in the background if it is old.
    func preparedPageServed(_ source: SourceID)
    /// Starts or renews the watch of a source. Returns true if it is watched until the end of the watcher.
    func watch(_ source: SourceID, by watcher: WatcherID) -> Bool
    /// Returns true if the photos of a source change with the date, without an event.
    func isDated(_ source: SourceID) -> Bool

    func photo(_ photo: String) async throws -> PhotoEntry
    func sources() async throws -> [Source]
    func imagePath(_ photo: String, size: String) async throws -> String
    func openImage(_ photo: String, size: String, for client: String) async throws -> Int32
    func download(
        _ photo: String, into destination: TransferDestination, for client: String
    ) async throws -> Transfer
    func refreshFeed(_ source: String) async throws -> Int
    func setDefaultSource(_ source: SourceID) async throws
    /// Likes or unlikes a photo; nil stands for the opposite of the present state.
    func changeLike(
        of photo: String, to isLiked: Bool?
    ) async throws -> (isLiked: Bool, outcome: LikeOutcome)
}

extension Account: FeedPhotos {
    func page(
        _ key: PreparedPageCache.Key
    ) async throws -> (photos: [PhotoEntry], next: String, isComplete: Bool) {
        let (photos, next) = try await page(
            key.source.text, cursor: key.cursor, count: Int(key.count))
        let path = path
        return (photos.map { PhotoEntry($0, account: path) }, next, true)
    }

    func hasReplaced(defaultSource source: SourceID) async -> Bool {
        await checkDefaultSource() != source
    }

    func photo(_ photo: String) async throws -> PhotoEntry {
        let found: Photo = try await self.photo(photo)
        return PhotoEntry(found, account: path)
    }
}

extension CombinedFeed: FeedPhotos {
    func page(
        _ key: PreparedPageCache.Key
    ) async throws -> (photos: [PhotoEntry], next: String, isComplete: Bool) {
        let page = try await page(key.source.text, cursor: key.cursor, count: Int(key.count))
        return (page.photos.map { PhotoEntry($0) }, page.next, page.isComplete)
    }

    func hasReplaced(defaultSource source: SourceID) async -> Bool { false }

    func photo(_ photo: String) async throws -> PhotoEntry {
        let found: CombinedPhoto = try await self.photo(photo)
        return PhotoEntry(found)
    }
}
