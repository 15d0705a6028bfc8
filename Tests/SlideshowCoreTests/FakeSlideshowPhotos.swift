import EngineModel
import ProviderKit
import System
import TestSupport

@testable import SlideshowCore

/// Suspends calls from ``begin()`` to ``end()``.
@MainActor
final class Hold {
    private var isActive = false
    private var waiting: [OneShotResult<Void, any Error>] = []
    /// The number of suspended calls.
    var count: Int { waiting.count { !$0.isComplete } }

    func begin() { isActive = true }

    func end() {
        isActive = false
        for result in waiting { result.complete(.success(())) }
        waiting = []
    }

    func wait() async throws {
        guard isActive else { return }
        let result = OneShotResult<Void, any Error>()
        waiting.append(result)
        try await result.valueUnlessCancelled()
    }
}

/// Accounts in memory, whose photos, failures and network a test sets.
@MainActor
final class FakeSlideshowPhotos: SlideshowPhotos {
    struct FakeAccount {
        let id: AccountID
        var isLocal = true
        var isLoggedIn = true
        /// True if requests fail because the service cannot be reached.
        var isUnreachable = false
        /// The photos with their times. A later time is newer.
        var photos: [PhotoID: Int] = [:]

        /// The photos, newest first.
        var ordered: [(id: PhotoID, time: Int)] {
            photos.map { (id: $0.key, time: $0.value) }.sorted { $0.time > $1.time }
        }
    }

    var accounts: [FakeAccount]
    /// The maximum number of photos of a page.
    var pageLimit = 100
    /// True if ``next(in:after:_:)`` reads one page.
    var passesPages = false
    /// The photos whose image cannot be fetched.
    var failing: Set<CombinedPhotoID> = []
    /// The photos whose image is cached. Fetched images are added.
    var cached: Set<CombinedPhotoID> = []
    /// The photos whose image file was deleted.
    var deleted: Set<String> = []
    var isMetered = false
    var isOnline = true
    var mayReadAhead = true

    /// The photos that pages contained.
    var served: Set<CombinedPhotoID> = []
    /// The photos whose image could not be fetched.
    var failures: Set<CombinedPhotoID> = []
    private(set) var fetches: [CombinedPhotoID] = []
    private(set) var pinned: Set<String> = []
    private(set) var watched: [SlideshowPart] = []
    private(set) var pageCount = 0
    private(set) var watchedImage = ""
    /// Reports that the watched image was deleted.
    private(set) var loseImage: () -> Void = {}
    /// The number of times that IDs were kept.
    private(set) var keepCount = 0
    /// The number of playlists that did not fit on the disk.
    private(set) var fullDiskCount = 0
    /// The slideshow whose images are protected.
    weak var slideshow: Slideshow?
    /// The sources besides `all`, which have the same photos unless ``selections`` has others.
    var albums: Set<String> = []
    /// The date of the photos of `memories`.
    var date = "2026-11-29"
    /// The photos of some sources.
    var selections: [String: Set<PhotoID>] = [:]
    /// The photos that some sources have after a refresh.
    var refreshed: [String: Set<PhotoID>] = [:]
    /// The photos that are higher than wide, and those of unknown size. The others are wider than high.
    var portraits: Set<PhotoID> = []
    var unknown: Set<PhotoID> = []
    /// The versions of the images of edited photos.
    var versions: [CombinedPhotoID: Int] = [:]
    /// Suspends the fetches of images.
    let images = Hold()
    /// Suspends the reads of pages other than the first.
    let laterPages = Hold()

    init(_ accounts: [FakeAccount]) { self.accounts = accounts }

    /// Creates local accounts with photos, newest first.
    convenience init(_ photos: [String: [String]]) {
        self.init(
            photos.sorted { $0.key < $1.key }.map { name, photos in
                var account = FakeAccount(id: AccountID(stored: name))
                for (index, photo) in photos.reversed().enumerated() {
                    account.photos[PhotoID(photo)] = index + 1
                }
                return account
            })
    }

    func index(_ account: AccountID) -> Int? { accounts.firstIndex { $0.id == account } }

    /// Adds the newest photo of an account.
    @discardableResult
    func add(_ photo: String, to account: Int) -> CombinedPhotoID {
        let newest = accounts.flatMap(\.photos.values).max() ?? 0
        accounts[account].photos[PhotoID(photo)] = newest + 1
        return CombinedPhotoID(accounts[account].id, PhotoID(photo))
    }

    // MARK: SlideshowPhotos

    func parts(of source: SlideshowSource) -> [SlideshowPart] {
        accounts.filter { $0.isLoggedIn && (source.account == nil || $0.id == source.account) }
            .map { account in
                let id = source.source.text.isEmpty ? SourceID("all") : source.source
                return SlideshowPart(
                    account: account.id, source: id, isLocal: account.isLocal, isSelection: false,
                    date: id.text == "memories" ? date : nil)
            }
    }

    func part(of source: SlideshowSource, _ account: AccountID) -> SlideshowPart? {
        parts(of: source).first { $0.account == account }
    }

    func page(
        of part: SlideshowPart, after cursor: String, count: Int
    ) async throws -> (photos: [Photo], next: String) {
        await Task.yield()
        pageCount += 1
        if !cursor.isEmpty { try await laterPages.wait() }
        let account = try account(part.account)
        guard part.source.text == "all" || albums.contains(part.source.text) else {
            throw ProviderError.notFound("No source.")
        }
        let rest = account.ordered.filter {
            (cursor.isEmpty || $0.time < Int(cursor) ?? 0) && contains(part.source, $0.id)
        }
        let page = rest.prefix(min(count, pageLimit))
        for photo in page { served.insert(CombinedPhotoID(account.id, photo.id)) }
        let hasMore = page.count < rest.count
        return (page.map { described($0.id) }, hasMore ? page.last.map { "\($0.time)" } ?? "" : "")
    }

    func refresh(_ part: SlideshowPart) async {
        await Task.yield()
        selections[part.source.text] = refreshed[part.source.text] ?? selections[part.source.text]
    }

    func next(
        in source: SlideshowSource, after cursor: String, _ orientation: SlideshowOrientation
    ) async throws -> (photo: CombinedPhotoID?, next: String) {
        await Task.yield()
        if !cursor.isEmpty, Int(cursor) == nil { throw ProviderError.staleCursor }
        let all = accounts.filter {
            $0.isLoggedIn && (source.account == nil || $0.id == source.account)
        }.flatMap { account in
            account.photos.map { (CombinedPhotoID(account.id, $0.key), $0.value) }
        }.filter { contains(source.source, $0.0.photo) }.sorted { $0.1 > $1.1 }
        let after = all.filter { cursor.isEmpty || $0.1 < Int(cursor) ?? 0 }
        let rest = after.filter { orientation.accepts(described($0.0.photo)) }
        let page = after.prefix(pageLimit)
        if passesPages, page.count < after.count, let last = page.last,
            !page.contains(where: { $0.0 == rest.first?.0 })
        {
            pageCount += 1
            return (nil, "\(last.1)")
        }
        guard let first = rest.first else { return (nil, "") }
        return (first.0, rest.count > 1 ? "\(first.1)" : "")
    }

    func photo(_ id: CombinedPhotoID, isCached: Bool) async throws -> Photo? {
        await Task.yield()
        let account = try account(id.account)
        guard account.photos[id.photo] != nil else { throw ProviderError.notFound("No photo.") }
        return described(id.photo)
    }

    func described(_ id: PhotoID) -> Photo {
        var photo = Photo(id: id)
        guard !unknown.contains(id) else { return photo }
        (photo.width, photo.height) = portraits.contains(id) ? (300, 400) : (400, 300)
        return photo
    }

    private func contains(_ source: SourceID, _ photo: PhotoID) -> Bool {
        selections[source.text]?.contains(photo) ?? true
    }

    func image(_ id: CombinedPhotoID, _ size: ImageSize, isCached: Bool) async throws -> String? {
        await Task.yield()
        let account = try account(id.account)
        let path = "/\(size.rawValue)/\(id)" + (versions[id].map { "-\($0)" } ?? "")
        if cached.contains(id) { return path }
        if isCached, !account.isLocal { return nil }
        fetches.append(id)
        try await images.wait()
        if account.isUnreachable { throw HTTPError.unreachable("no route") }
        if failing.contains(id) {
            failures.insert(id)
            throw ProviderError.failed("No image.")
        }
        deleted.remove(path)
        cached.insert(id)
        return path
    }

    func watchImage(_ path: String, onLoss: @escaping () -> Void) {
        watchedImage = path
        loseImage = onLoss
    }

    func keepIDs() { keepCount += 1 }
    func recordFullDisk() { fullDiskCount += 1 }

    func exists(_ source: SlideshowSource) async -> Bool {
        await Task.yield()
        return ["", "all"].contains(source.source.text) || albums.contains(source.source.text)
    }

    func pin() async -> Set<String> {
        // Before the suspension: a yield does not keep the order of the calls.
        pinned = slideshow?.neededImages ?? []
        let missing = pinned.intersection(deleted)
        await Task.yield()
        return missing
    }

    func isLoggedIn(_ account: AccountID) -> Bool {
        accounts.contains { $0.id == account && $0.isLoggedIn }
    }

    func isReady(_ account: AccountID) -> Bool {
        accounts.contains { $0.id == account && $0.isLoggedIn && !$0.isUnreachable }
    }

    func isLocal(_ account: AccountID) -> Bool {
        accounts.first { $0.id == account }?.isLocal ?? true
    }

    func mayFetch(_ account: AccountID) -> Bool { isLocal(account) || isOnline && !isMetered }

    func mayReadAhead(_ part: SlideshowPart) -> Bool { mayReadAhead }
    func watch(_ parts: [SlideshowPart]) { watched = parts }

    func check(_ source: SlideshowSource) async throws {
        if let id = source.account { _ = try account(id) }
        guard ["", "all"].contains(source.source.text) || albums.contains(source.source.text) else {
            throw EngineError.notFound("There is no source.")
        }
    }

    private func account(_ id: AccountID) throws -> FakeAccount {
        guard let account = accounts.first(where: { $0.id == id }) else {
            throw EngineError.notFound("There is no account.")
        }
        guard account.isLoggedIn else { throw EngineError.needsLogin("Log in.") }
        return account
    }
}
