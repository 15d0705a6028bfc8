internal import Contract
internal import DBus
internal import EngineCore
internal import EngineModel
internal import Feeds
internal import ProviderKit

/// A page in its D-Bus form. `isComplete` is false if the page must not be stored.
typealias PhotoPage = (photos: [PhotoEntry], next: String, isComplete: Bool)

/// The photos of a ``FeedObject``: those of an account, or of the combined account.
protocol PhotoFeed {
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
    func page(_ key: PreparedPageCache.Key) async throws -> PhotoPage
    /// Returns true if the default source does not exist and another one takes its place.
    func hasReplaced(defaultSource source: SourceID) async -> Bool
    /// Records that a client received a stored first page, and refreshes the source in the background if it is old.
    func preparedPageServed(_ source: SourceID)
    /// Starts or renews the watch of a source until the end of the watcher.
    func watch(_ source: SourceID, by watcher: WatcherID)
    /// Returns true if the photos of a source change with the date, without an event.
    func isDated(_ source: SourceID) -> Bool

    /// Runs a call of the account that has a photo. Its arguments are the account and the ID of the photo within the
    /// account.
    func call<Value>(
        _ photo: String, _ body: (Account, String) async throws -> Value
    ) async throws -> Value
    /// Returns the D-Bus form of a photo of an account.
    func entry(_ photo: Photo, of account: Account) -> PhotoEntry
    func sources() async throws -> [Source]
    func refreshFeed(_ source: String) async throws -> Int
    func setDefaultSource(_ source: SourceID) async throws
}

extension Account: PhotoFeed {
    func page(_ key: PreparedPageCache.Key) async throws -> PhotoPage {
        let (photos, next) = try await page(
            key.source.text, cursor: key.cursor, count: Int(key.count))
        let path = path
        return (photos.map { PhotoEntry($0, account: path) }, next, true)
    }

    func hasReplaced(defaultSource source: SourceID) async -> Bool {
        await checkDefaultSource() != source
    }

    func call<Value>(
        _ photo: String, _ body: (Account, String) async throws -> Value
    ) async throws -> Value {
        try await body(self, photo)
    }

    func entry(_ photo: Photo, of account: Account) -> PhotoEntry {
        PhotoEntry(photo, account: account.path)
    }
}

extension CombinedFeed: PhotoFeed {
    func page(_ key: PreparedPageCache.Key) async throws -> PhotoPage {
        let page = try await page(key.source.text, cursor: key.cursor, count: Int(key.count))
        let photos = page.photos.map { entry($0.photo, of: $0.account) }
        return (photos, page.next, page.isComplete)
    }

    func hasReplaced(defaultSource source: SourceID) async -> Bool { false }

    func entry(_ photo: Photo, of account: Account) -> PhotoEntry {
        PhotoEntry(photo.combined(of: account.id), account: account.path)
    }
}
