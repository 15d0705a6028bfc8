internal import EngineModel
internal import Feeds
internal import Likes
internal import ProviderKit
internal import Quoting
internal import Storage
internal import System
internal import Translation

/// The photos of a remote account. Cached photos are served at once and refreshed in the background if they are old;
/// other photos are fetched.
final class CachedFeed {
    /// The maximum number of pages of the service for one page of a client.
    static let fillLimit = 8
    /// The maximum number of pages of the service for one refresh.
    static let refreshLimit = 5
    /// The time for which a page waits for the response about the end of its source.
    static let endTimeout = Duration.seconds(3)
    /// The age from which the list of sources is refreshed.
    static let sourcesFreshness = Duration.seconds(3600)

    let account: AccountID
    let session: any RemoteFeed
    let store: FeedStore
    let owner: RemoteService
    /// The age from which the position of a page token is not certain.
    static let pageTokenFreshness = Duration.seconds(600)

    /// The number of responses for tops.
    var responseCount = 0
    let tops = SingleFlight<SourceID, FeedTables.Merge>()
    /// The requests for parts below the tops.
    let fills = SingleFlight<Fill, FeedTables.Merge>()
    private let photos = SingleFlight<PhotoID, CachedPhoto>()
    private let listings = SingleFlight<AccountID, [Source]>()
    /// Runs one merge at a time, so that other accounts wait for one transaction.
    let merges = ChangeQueue()
    /// The recent reads and refreshes.
    var activity = SourceActivity()
    /// The time of the last request for the sources since the start.
    private var listed: Timestamp?

    /// The number of refreshes in progress that clients requested, by source.
    var requested: [SourceID: Int] = [:]
    /// The times of the last failed refreshes of a part below the top of a source.
    private var partFailures: [SourceID: Timestamp] = [:]
    /// The sources whose last pages had no photos, each with the time of the next request below these pages.
    private var pauses: [SourceID: Timestamp] = [:]
    /// The sources of which a part is refreshed in the background.
    private var partRefreshes: Set<SourceID> = []

    /// A part below the top of a source. Sources are compared byte by byte, unlike their texts.
    struct Fill: Hashable {
        let source: SourceID
        let key: String
    }

    init(
        _ account: AccountID, _ session: any RemoteFeed, _ store: FeedStore, owner: RemoteService
    ) {
        self.account = account
        self.session = session
        self.store = store
        self.owner = owner
    }

    /// Cancels the requests in progress, because the account is logged out.
    func cancelRequests() {
        tops.cancelAll()
        fills.cancelAll()
        photos.cancelAll()
        listings.cancelAll()
    }

    /// Throws if the account is logged out. Called before each write.
    func checkWanted() throws {
        if owner.isForgotten { throw RemoteService.loggedOutError }
    }

    // MARK: Pages

    /// Reads a page from the cache, and fetches its missing parts; see ``AccountPhotos/page(_:after:count:fillsGaps:)``.
    ///
    /// - Returns: The page; nil if parts are missing and `mayRequest` is false.
    func page(
        _ source: SourceID, after cursor: String?, count: Int, fillsGaps: Bool, mayRequest: Bool
    ) async throws -> Page? {
        try check(source)
        let place = try cursor.map { try FeedPosition(parsing: $0) }
        var requests = 0
        var isRead = false
        var isEndChecked = false
        while true {
            let before = responseCount
            guard let (state, slice) = try await look(source, place, count) else {
                guard place == nil, requests < Self.fillLimit else {
                    throw ProviderError.staleCursor
                }
                guard mayRequest else { return nil }
                // Another response may have arrived during the read.
                if responseCount == before {
                    activity.recordRead(source)
                    requests += try await fetchTop(source).pages
                } else {
                    requests += 1
                }
                isRead = true
                continue
            }
            if !isRead {
                isRead = true
                if place == nil { recordRead(source, refreshed: state.fetched) }
                if let part = slice.outdated { refresh(part, of: source, state) }
            }
            func page(hasMore: Bool) -> Page {
                let (keys, epoch) = (slice.keys, state.epoch)
                recordDepth(slice, state)
                let generation = place?.generation ?? state.generation
                return Page(photos: slice.photos.map(\.photo), hasMore: hasMore) { count in
                    if count == 0, let cursor { return cursor }
                    let key = count == 0 ? OrderKey.base : keys[count - 1]
                    return FeedPosition(epoch: epoch, generation: generation, key: key).text
                }
            }
            if slice.hasMore { return page(hasMore: true) }
            guard let gap = slice.gap else {
                guard !isEndChecked, !owner.isMetered(), owner.state == .ready,
                    activity.isEndOld(source, now: owner.now)
                else { return page(hasMore: false) }
                // The first page is served from the cache at once.
                let waits = place != nil && fillsGaps
                guard !waits || mayRequest else { return nil }
                isEndChecked = true
                let check = checkEnd(of: source, slice.lowest, state)
                guard waits else { return page(hasMore: false) }
                try? await withTimeLimit(Self.endTimeout, owner.clock) {
                    await check.value
                } onTimeout: {
                }
                continue
            }
            guard slice.photos.count < count, fillsGaps || slice.photos.isEmpty else {
                return page(hasMore: true)
            }
            guard mayRequest else { return nil }
            // Many pages had no photos. A client continues at the position that was reached, later.
            if slice.photos.isEmpty, isPaused(source) { return page(hasMore: true) }
            guard requests < Self.fillLimit else {
                if slice.photos.isEmpty { pauses[source] = owner.now + SourceActivity.retryPause }
                return page(hasMore: true)
            }
            do {
                requests += try await fill(source, gap, state, limit: Self.fillLimit - requests)
            } catch  where !slice.photos.isEmpty {
                // The photos so far are returned; the next page reports the error.
                return page(hasMore: true)
            }
        }
    }

    /// Stores that a client read the photos of a slice. Best effort: only the depth of refreshes depends on it.
    private func recordDepth(_ slice: FeedOrder.Slice, _ state: FeedTables.SourceState) {
        let now = owner.now
        guard let key = slice.keys.last, state.isDepth(key, now: now) else { return }
        Task {
            try? await store.run(account) { try $0.setDepth(key, of: state.key, read: now) }
        }
    }

    /// Returns true while no further pages of a source are requested, because many had no photos.
    private func isPaused(_ source: SourceID) -> Bool {
        guard let end = pauses[source] else { return false }
        let now = owner.now
        if now < end, end <= now + SourceActivity.retryPause { return true }
        pauses[source] = nil
        return false
    }

    /// Returns the ID under which a source is stored. It contains the cache variant.
    func stored(_ source: SourceID) -> SourceID {
        session.cacheVariant.isEmpty
            ? source : SourceID("\(source)\(FeedTables.variantSeparator)\(session.cacheVariant)")
    }

    /// Reads a page from the cache, with one read transaction.
    ///
    /// - Returns: The source and the page; nil if the source is not cached, or the position was lost.
    private func look(
        _ source: SourceID, _ place: FeedPosition?, _ count: Int
    ) async throws -> (FeedTables.SourceState, FeedOrder.Slice)? {
        let stored = stored(source)
        let showsAllCacheVariants = session.showsAllCacheVariants
        let now = owner.now
        // A part from the future was fetched before the clock was set back.
        let start = Timestamp(
            secondsSince1970: now.secondsSince1970 - SourceActivity.freshness.components.seconds + 1
        )
        return try await store.read(account) {
            (tables) throws -> (FeedTables.SourceState, FeedOrder.Slice)? in
            let state =
                showsAllCacheVariants
                ? try tables.latestVariant(source) : try tables.source(stored)
            guard let state, place.map(state.holds) ?? true else { return nil }
            let slice = try tables.order(of: state.key).slice(
                in: state.generation, below: place, count: count, fresh: start...now)
            return (state, slice)
        }
    }

    /// Refreshes a part below the top of a source in the background.
    private func refresh(
        _ part: FeedOrder.Part, of source: SourceID, _ state: FeedTables.SourceState
    ) {
        let now = owner.now
        guard !owner.isMetered() else { return }
        if let last = partFailures[source], last <= now, now < last + SourceActivity.retryPause {
            return
        }
        guard partRefreshes.insert(source).inserted else { return }
        Task {
            defer { partRefreshes.remove(source) }
            do {
                try await fetchPart(part, of: source, state)
                partFailures[source] = nil
            } catch {
                partFailures[source] = owner.now
            }
        }
    }

    /// Requests the end of a source again: the service may have had a fault, or have more photos now.
    private func checkEnd(
        of source: SourceID, _ part: FeedOrder.Part?, _ state: FeedTables.SourceState
    ) -> Task<Void, Never> {
        activity.recordEnd(source, now: owner.now)
        return Task {
            do {
                if let part {
                    try await fetchPart(part, of: source, state)
                } else {
                    _ = try await fetchTop(source)
                }
            } catch {
                activity.recordEndFailure(source, now: owner.now)
            }
        }
    }

    /// Refreshes a source, as deep as it was read within a day.
    ///
    /// - Returns: The number of new photos.
    func refresh(_ source: SourceID) async throws -> Int {
        try check(source)
        activity.recordRead(source)
        requested[source, default: 0] += 1
        defer { requested[source] = requested[source].flatMap { $0 > 1 ? $0 - 1 : nil } }
        return try await fetchReadParts(source)
    }

    // MARK: Single photos

    /// Returns a photo from the cache, or else from the service.
    func photo(_ id: PhotoID) async throws -> CachedPhoto {
        if let known = try await knownPhoto(id) { return known }
        return try await fetchCachedPhoto(id)
    }

    /// Returns a photo from the cache; nil if it is not cached.
    func knownPhoto(_ id: PhotoID) async throws -> CachedPhoto? {
        try await store.read(account) { try $0.photos.photo(id) }
    }

    /// Fetches a photo. A photo that the service does not find leaves every source.
    func fetchCachedPhoto(_ id: PhotoID) async throws -> CachedPhoto {
        try await photos.run(id) { [self] in
            do {
                let request = owner.likes?.outbox.request
                let note = (try? await knownPhoto(id))?.remote.note
                let remote = try await owner.perform { [session] in
                    try await session.fetchPhoto(id, note: note)
                }
                return try await storePhoto(remote, of: request)
            } catch let error as ProviderError {
                if case .notFound = error { await remove([id]) }
                throw error
            }
        }
    }

    /// Fetches a photo; see ``fetchCachedPhoto(_:)``.
    func fetchPhoto(_ id: PhotoID) async throws -> Photo { try await fetchCachedPhoto(id).photo }

    private func storePhoto(
        _ remote: RemotePhoto, of request: LikeOutbox.Request?
    ) async throws -> CachedPhoto {
        let overlay = try overlay(for: request)
        let (change, cached) = try await store.run(account) { tables in
            let change = try tables.photos.upsert(remote, overlay)
            let cached = try tables.photos.photo(remote.photo.id)
            try tables.limitBytes()
            return (change, cached)
        }
        if let request, remote.hasLikeState {
            await owner.likes?.reconcile([remote.photo.id: remote.photo.isLiked], of: request)
        }
        if let change {
            owner.emit(.photosChanged([change.photo]))
            if change.isOtherLike { await announceLikeChanges([change.photo]) }
        }
        return cached ?? CachedPhoto(remote: remote)
    }

    /// Removes photos that no longer exist from every source.
    func remove(_ ids: [PhotoID]) async {
        let deletion: Void? = try? await store.run(account) { tables in
            for id in ids { try tables.photos.remove(id) }
        }
        // A photo without a row is reported as well: a client may show it after it left its last source.
        if deletion != nil, !ids.isEmpty { owner.emit(.photosRemoved(ids)) }
    }

    // MARK: Sources

    /// Returns the sources of the account.
    func sources() async throws -> [Source] {
        let listed = try await store.read(account) { try $0.listedSources() }
        guard !listed.isEmpty else { return try await fetchSources() }
        let isYoung = self.listed.map { owner.now < $0 + Self.sourcesFreshness && $0 <= owner.now }
        if isYoung != true, !owner.isMetered() { Task { _ = try? await fetchSources() } }
        return listed
    }

    /// Fetches the sources, and those again that could not be read. Callers at the same time share one request.
    func fetchSources() async throws -> [Source] {
        if !listings.isRunning(account) { listed = owner.now }
        return try await listings.run(account) { [self] in
            let known = try await store.read(account) { try $0.listedSources() }
            let sources = try await owner.perform { [session] in
                try await session.sources(keeping: known)
            }
            try checkWanted()
            try await store.run(account) { try $0.setListedSources(sources) }
            let listed = Set(sources.map(\.id))
            changeActivity {
                $0.removeProblems(of: known.map(\.id).filter { !listed.contains($0) })
            }
            // The list does not show if their photos can be read again.
            if !owner.isMetered() { activity.broken.forEach(refreshInBackground) }
            return sources
        }
    }

    private func check(_ source: SourceID) throws {
        guard session.accepts(source) else {
            throw ProviderError.notFound(
                Message("There is no source {source}.", ["source": source.text.quoted]))
        }
    }
}
