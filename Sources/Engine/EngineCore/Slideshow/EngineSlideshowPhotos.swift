internal import EngineModel
internal import Feeds
internal import ProviderKit
internal import Quoting
internal import Services
internal import SlideshowCore

/// The photos of the engine's accounts, as the slideshow uses them.
final class EngineSlideshowPhotos: SlideshowPhotos {
    /// The number of photos of a page in which an orientation is searched for.
    private static let pageCount = 100

    /// A weak reference: searches in progress may outlast the engine.
    private weak var engine: Engine?
    /// The name of the slideshow.
    private let name: String
    private let imageWatch = ImageWatch()

    init(_ engine: Engine, for name: String) {
        self.engine = engine
        self.name = name
    }

    private var watcher: WatcherID { .component("slideshow/\(name)") }

    func parts(of source: SlideshowSource) -> [SlideshowPart] {
        guard let engine else { return [] }
        let accounts = source.account.map { [$0] } ?? engine.combined.accounts.map(\.id)
        return accounts.compactMap { part(of: source, $0) }
    }

    func part(of source: SlideshowSource, _ account: AccountID) -> SlideshowPart? {
        guard source.account == nil || source.account == account, let engine,
            let account = engine.accounts[account], account.isLoggedIn,
            let id = source.account == nil
                ? account.source(in: engine.combined.resolve(source.source.text))
                : account.resolve(source.source.text)
        else { return nil }
        let isDated = id == account.source(in: CombinedFeed.memories)
        return SlideshowPart(
            account: account.id, source: id, isLocal: account.isLocal,
            isSelection: isDated || id == account.source(in: CombinedFeed.likes)
                || account.isLocal && id != account.provider.info.defaultSource,
            date: isDated ? CalendarDate(local: engine.ports.now()).text : nil)
    }

    func page(
        of part: SlideshowPart, after cursor: String, count: Int
    ) async throws -> (photos: [Photo], next: String) {
        try await account(part.account).page(part.source.text, cursor: cursor, count: count)
    }

    func refresh(_ part: SlideshowPart) async {
        await engine?.accounts[part.account]?.photos?.refreshWatched(part.source)
    }

    func next(
        in source: SlideshowSource, after cursor: String, _ orientation: SlideshowOrientation
    ) async throws -> (photo: CombinedPhotoID?, next: String) {
        var count = 1
        if orientation != .any {
            let (photos, next) = try await page(of: source, after: cursor, count: Self.pageCount)
            guard let index = photos.firstIndex(where: orientation.accepts) else {
                return (nil, next)
            }
            // The cursor of a page is that after its last photo.
            count = index + 1
        }
        let (photos, next) = try await page(of: source, after: cursor, count: count)
        guard let photo = photos.last, orientation.accepts(photo) else { return (nil, next) }
        // In the combined account, photos have the IDs of that account.
        let id = source.account.map { CombinedPhotoID($0, photo.id) }
        return (id ?? CombinedPhotoID(photo.id.text), next)
    }

    private func page(
        of source: SlideshowSource, after cursor: String, count: Int
    ) async throws -> (photos: [Photo], next: String) {
        let text = source.source.text
        if let id = source.account {
            return try await account(id).page(text, cursor: cursor, count: count)
        }
        let page = try await existingEngine().combined.page(
            text, cursor: cursor, count: count, isForClient: false)
        return (page.photos.map { $0.photo.combined(of: $0.account.id) }, page.next)
    }

    func photo(_ id: CombinedPhotoID, isCached: Bool) async throws -> Photo? {
        try await call(id) { photos in
            isCached ? try await photos.cachedPhoto(id.photo) : try await photos.photo(id.photo)
        }
    }

    func image(_ id: CombinedPhotoID, _ size: ImageSize, isCached: Bool) async throws -> String? {
        try await call(id) { photos in
            isCached
                ? try await photos.cachedImage(id.photo, size)
                : try await photos.imagePath(id.photo, size)
        }
    }

    private func call<Value>(
        _ id: CombinedPhotoID, _ body: (any AccountPhotos) async throws -> Value
    ) async throws -> Value {
        let photos = try account(id.account).session()
        do { return try await body(photos) } catch { throw id.translating(error) }
    }

    private func existingEngine() throws -> Engine {
        guard let engine else { throw CancellationError() }
        return engine
    }

    private func account(_ id: AccountID) throws -> Account {
        guard let account = try existingEngine().accounts[id] else {
            throw EngineError.notFound("There is no account \(id.text.excerpt).")
        }
        return account
    }

    func watchImage(_ path: String, onLoss: @escaping () -> Void) { imageWatch.watch(path, onLoss) }

    func keepIDs() { engine?.slideshows.keepIDs() }

    func exists(_ source: SlideshowSource) async -> Bool {
        guard let id = source.account, !source.source.text.isEmpty,
            let account = engine?.accounts[id], account.isLoggedIn
        else { return true }
        return (try? await account.hasSource(source.source)) ?? true
    }

    func pin() async -> Set<String> { await engine?.slideshows.pin() ?? [] }

    func recordFullDisk() { engine?.stores.disk.recordFullDisk() }

    func isLoggedIn(_ account: AccountID) -> Bool { engine?.accounts[account]?.isLoggedIn == true }

    func isReady(_ account: AccountID) -> Bool { engine?.accounts[account]?.state == .ready }

    func isLocal(_ account: AccountID) -> Bool { engine?.accounts[account]?.isLocal == true }

    var isMetered: Bool { engine?.isMetered == true }

    func mayFetch(_ account: AccountID) -> Bool {
        guard let engine else { return false }
        guard let account = engine.accounts[account], !account.isLocal else { return true }
        if case .offline = account.state { return false }
        return !engine.isMetered
    }

    func mayReadAhead(_ part: SlideshowPart) -> Bool {
        guard !part.isLocal, let account = engine?.accounts[part.account] else {
            return part.isLocal
        }
        return account.refreshPermission == .permitted
    }

    func watch(_ parts: [SlideshowPart]) {
        engine?.unwatch(watcher)
        for part in parts { engine?.accounts[part.account]?.watch(part.source, by: watcher) }
    }

    func check(_ source: SlideshowSource) async throws {
        if let id = source.account {
            let account = try account(id)
            try await account.checkSource(account.resolve(source.source.text))
        } else {
            let combined = try existingEngine().combined
            try combined.check(combined.resolve(source.source.text))
        }
    }
}
