internal import Contract
internal import DBus
internal import ProviderKit
internal import Translation

/// The photos of one source, loaded page by page.
final class Feed {
    enum State: Equatable {
        case loading
        /// More photos follow.
        case partial
        case complete
        case failed(Problem)
    }

    enum Change {
        /// All photos were replaced, and the number of new ones is 0.
        case reset
        /// Photos were added at the end, or the state or the number of new photos changed.
        case extended
        /// Some photos left, or returned to their places.
        case removed
        /// The photo at an index changed.
        case photo(Int)
        /// The account and the network are available again.
        case available
    }

    let account: ObjectPath
    /// The ID of the source, as the daemon knows it.
    let source: String
    private(set) var photos: [Photo] = []
    private(set) var state = State.partial
    /// The number of photos in the source as far as it is known; at least that of ``photos``.
    var count: Int { state == .complete ? photos.count : max(photos.count, listedCount) }
    /// The number of photos that arrived since the first page was read.
    private(set) var newCount: UInt32 = 0
    let changed = Event<Change>()

    private let service: Service
    private var indexes: [String: Int] = [:]
    private var cursor = ""
    /// The account was ready, and the network available, when they changed last.
    private var wasAvailable = true
    /// True if the photos are replaced at the next update, because another folder was chosen.
    var isOutdated = false
    /// A photo, with the IDs of those that were above it.
    typealias Place = (id: String, above: ArraySlice<String>)
    /// The places of photos whose files were restored, to which they return at the next update.
    var restored: [Place] = []
    /// The number of pages that are being read.
    private var readCount = 0 { didSet { if readCount == 0 { removed = [] } } }
    /// The IDs of photos that left since then. A page that was read before they left may be accepted afterwards.
    private var removed: Set<String> = []
    /// True if photos arrived while an account was being read for the first time.
    private var hasUncountedPhotos = false
    /// The accounts that were logged in when they changed last.
    private var loggedIn: Set<ObjectPath> = []
    /// Increased by each reload; a reply to an older request is dropped.
    private var generation = 0

    /// The number of photos as the daemon lists it; 0 if it is unknown.
    var listedCount = 0 { didSet { if listedCount != oldValue { changed.emit(.extended) } } }
    /// The number of photos to which pages are requested one after another.
    private var wantedCount = 0
    /// The feed that is searched; nil without a search.
    private(set) var base: Feed?
    /// The number of its photos that were searched.
    private var searched = 0
    /// The photo at which these requests end.
    private var wantedPhoto: String?
    /// Called when all requested pages are loaded, unless the photos are replaced before.
    private var atEnd: ((_ last: Int) -> Void)?

    private static let pageSize: UInt32 = 60
    /// The number of photos that one request for the end loads from services, which count requests.
    private static let mostFromServices = 600

    init(_ service: Service, account: ObjectPath, source: String) {
        self.service = service
        self.account = account
        self.source = source
        service.event.observe(self) { [weak self] in self?.receive($0.1, of: $0.account) }
        service.restarted.observe(self) { [weak self] in
            guard let self else { return }
            if case .failed = state { loadMore() } else { checkTop() }
        }
        wasAvailable = isAvailable
        service.changed.observe(self) { [weak self] in self?.availabilityChanged() }
    }

    /// Creates a list of photos that no source contains, or of files if the account is the root object.
    convenience init(_ service: Service, account: ObjectPath, photos: [Photo]) {
        self.init(service, account: account, source: "")
        self.photos = photos
        state = .complete
        rebuildIndexes()
    }

    /// Creates the photos of another feed in which each word occurs. They appear while the other feed is loaded.
    convenience init(_ service: Service, searching base: Feed, _ words: String) {
        self.init(service, account: base.account, source: "")
        self.base = base
        let words = words.lowercased().split(separator: " ").map(String.init)
        base.changed.observe(self) { [weak self] in self?.search(words, after: $0) }
        search(words, after: .reset)
    }

    /// Searches the photos that follow those that were searched, or all of them if their positions have changed.
    private func search(_ words: [String], after change: Change) {
        guard let base else { return }
        switch change {
        case .photo, .available: return
        case .extended: break
        case .removed where base.photos.count < searched:
            // Some left; to search the others again takes a second for 200,000 photos.
            photos.removeAll { base.index(of: $0.id) == nil }
            rebuildIndexes()
            searched = base.photos.count
        case .removed, .reset: (photos, indexes, searched) = ([], [:], 0)
        }
        for photo in base.photos[searched...] where photo.contains(words) {
            indexes[photo.id] = photos.count
            photos.append(photo)
        }
        searched = base.photos.count
        if case .reset = change, !base.isLoadingToEnd { base.loadToEnd() }
        let end = base.state == .partial ? .complete : base.state
        state = base.isLoadingToEnd ? .loading : end
        changed.emit(change)
        reachEnd()
    }

    /// True if the photos are files that were opened without an account.
    var isFileList: Bool { account == ServiceName.root }

    /// True if the photos are the results of a search.
    var isSearch: Bool { base != nil || source.hasPrefix("search:") }

    var client: AccountClient { service.client.account(account) }

    func index(of photo: String) -> Int? { indexes[photo] }
    func photo(_ id: String) -> Photo? { indexes[id].map { photos[$0] } }

    /// Starts again at the newest photo. The current photos remain until the first page is there.
    func reload() {
        generation += 1
        wantedCount = 0
        atEnd = nil
        isOutdated = false
        cursor = ""
        request()
    }

    /// Requests the next page, or repeats a failed request. The pages of a search are those of the other feed.
    func loadMore() {
        guard state != .loading, state != .complete else { return }
        if let base { base.loadMore() } else { request() }
    }

    /// Requests all pages of a source on this computer, and some of other sources.
    ///
    /// - Parameter photo: The ID of a photo at which the requests end.
    func loadToEnd(until photo: String? = nil) {
        wantedPhoto = photo
        let isLocal = service.accounts(of: account).allSatisfy(service.isLocal)
        wantedCount = isLocal ? .max : photos.count + Self.mostFromServices
        loadMore()
    }

    /// Requests the pages up to the last photo.
    ///
    /// - Parameter handler: Receives the index of the last photo once, unless ``cancelEnd()`` is called before.
    func findEnd(_ handler: @escaping (_ last: Int) -> Void) {
        atEnd = handler
        loadToEnd()
        reachEnd()
    }
    func cancelEnd() { atEnd = nil }

    private func reachEnd() {
        guard let handler = atEnd, !isLoadingToEnd else { return }
        atEnd = nil
        if !photos.isEmpty { handler(photos.count - 1) }
    }

    /// True until the pages that ``loadToEnd(until:)`` requested are loaded.
    var isLoadingToEnd: Bool {
        guard state == .partial else { return state == .loading }
        return photos.count < wantedCount && wantedPhoto.map { indexes[$0] != nil } != true
    }

    private func request() {
        state = .loading
        changed.emit(.extended)
        let generation = generation
        // A failed reload is repeated from the top, also if photos are there.
        let isFirst = cursor.isEmpty
        Task {
            do {
                let page = try await readPage(cursor)
                guard generation == self.generation else { return }
                accept(page.photos, next: page.next, isFirst: isFirst)
                if page.isEmpty, state == .partial {
                    // Further pages are requested later.
                    let sentence = tr("The service returned no photos; try again later.")
                    return fail(Problem(sentence: sentence))
                }
                // Photos that leave later do not continue it.
                if isLoadingToEnd { loadMore() } else { wantedCount = 0 }
                reachEnd()
            } catch {
                guard generation == self.generation else { return }
                let problem = Problem(error)
                // The position is lost: read the photos again from the top.
                if problem.kind == .staleCursor, !isFirst { return reload() }
                fail(problem)
            }
        }
    }

    /// Returns a page without the photos that left meanwhile, and true if it was empty also with them.
    private func readPage(
        _ cursor: String
    ) async throws -> (photos: [Photo], next: String, isEmpty: Bool) {
        readCount += 1
        defer { readCount -= 1 }
        let page = try await client.page(source, cursor: cursor, count: Self.pageSize)
        let photos = page.photos.filter { !removed.contains($0.id) }
        return (photos, page.next, page.photos.isEmpty)
    }

    private func fail(_ problem: Problem) {
        state = .failed(problem)
        changed.emit(.extended)
        reachEnd()
    }

    private func accept(_ page: [Photo], next: String, isFirst: Bool) {
        cursor = next
        state = next.isEmpty ? .complete : .partial
        if isFirst {
            photos = page
            newCount = 0
            rebuildIndexes()
        } else {
            for photo in page where indexes[photo.id] == nil {
                indexes[photo.id] = photos.count
                photos.append(photo)
            }
        }
        changed.emit(isFirst ? .reset : .extended)
    }

    private func rebuildIndexes() {
        indexes = Dictionary(
            photos.enumerated().map { ($0.element.id, $0.offset) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Reads the first page, and applies its changes. Another daemon process then watches the source.
    ///
    /// - Parameter arrived: The number of photos that arrived at the top, of which some may be known.
    private func checkTop(_ arrived: UInt32 = 0) {
        guard !source.isEmpty, !photos.isEmpty else { return }
        let generation = generation
        Task {
            // Without a reply, the photos remain as they are.
            let page = try? await readPage("")
            guard generation == self.generation else { return }
            guard let page else {
                guard arrived > 0 else { return }
                newCount += arrived
                return changed.emit(.extended)
            }
            for photo in page.photos { change(photo.id) { $0 = photo } }
            for place in restored where index(of: place) != nil {
                // The daemon may not have found the file yet.
                guard let photo = try? await client.photo(place.id), generation == self.generation
                else { continue }
                insert(photo, at: place)
            }
            guard generation == self.generation else { return }
            restored.removeAll { indexes[$0.id] != nil }
            // Photos below those that are known may be on pages that are not loaded.
            let known = page.photos.lastIndex { indexes[$0.id] != nil }
            let top = page.photos.prefix(state == .complete ? page.photos.count : known ?? 0)
            let unknown = UInt32(top.count { indexes[$0.id] == nil })
            // More photos than a page may be new.
            let newCount = known == nil ? self.newCount + arrived : unknown
            guard newCount > self.newCount else { return }
            self.newCount = newCount
            changed.emit(.extended)
        }
    }

    /// True if a request has no reason to fail.
    private var isAvailable: Bool {
        guard service.state == .ready, service.isOnline else { return false }
        return service.accounts(of: account).allSatisfy { $0.state == .ready }
    }

    /// Repeats a failed request after its cause has ended.
    private func availabilityChanged() {
        removePhotosOfLoggedOutAccounts()
        let isAvailable = isAvailable
        defer { wasAvailable = isAvailable }
        guard isAvailable, !wasAvailable else { return }
        if case .failed = state { loadMore() }
        if hasUncountedPhotos {
            hasUncountedPhotos = false
            if photos.count > Self.pageSize { checkTop() } else { reload() }
        }
        changed.emit(.available)
    }

    // MARK: Signals

    private func receive(_ event: ServiceEvent, of account: ObjectPath) {
        guard account == self.account else { return }
        switch event {
        case .photosChanged(let photos):
            for photo in photos { change(photo.id) { $0.apply(photo.changes) } }
        case .photosRemoved(let ids):
            if readCount > 0 { removed.formUnion(ids) }
            remove(Set(ids))
        case .updated(let source, let new): updated(source, new)
        case .likeChanged(let id, let isLiked, let likes):
            change(id) {
                $0.photo.isLiked = isLiked
                $0.photo.isPending = false
                // 0 if the service does not count likes.
                if likes > 0 || $0.photo.likes != nil { $0.photo.likes = Int(likes) }
            }
        default: break
        }
    }

    private func updated(_ source: String, _ new: UInt32) {
        guard source == self.source, new > 0 || isOutdated else { return }
        // Nothing is above the first photo of an empty list.
        if photos.isEmpty || isOutdated { return reload() }
        // The first scan of a folder finds all its photos.
        if service.accounts(of: account).contains(where: { $0.state == .loading }) {
            hasUncountedPhotos = true
            return
        }
        checkTop(new)
    }

    private func removePhotosOfLoggedOutAccounts() {
        guard account == ServiceName.combined, service.state == .ready else { return }
        let accounts = Set(service.feeds.map(\.path))
        guard accounts != loggedIn else { return }
        loggedIn = accounts
        remove(Set(photos.lazy.filter { !accounts.contains($0.account) }.map(\.id)))
    }

    /// Changes one photo and reports it.
    func change(_ id: String, _ body: (inout Photo) -> Void) {
        guard let index = indexes[id] else { return }
        var photo = photos[index]
        body(&photo)
        guard photo != photos[index] else { return }
        photos[index] = photo
        if source == "likes", !photo.wantsLike, !photo.photo.isPending { return remove([id]) }
        changed.emit(.photo(index))
    }

    /// Returns the places of photos, the highest first.
    func places(of ids: [String]) -> [Place] {
        let order = photos.map(\.id)
        return ids.compactMap { indexes[$0] }.sorted().map { (order[$0], order[..<$0]) }
    }

    /// Returns the index of a place, above which photos may have left or arrived; nil if it may not be loaded.
    private func index(of place: Place) -> Int? {
        let last = place.above.last { indexes[$0] != nil }
        let next = last.flatMap { indexes[$0] }.map { $0 + 1 } ?? 0
        let isLoaded = next < photos.count || last == place.above.last || state == .complete
        return isLoaded ? next : nil
    }

    /// Returns a restored photo to its place.
    func insert(_ photo: Photo, at place: Place) {
        guard indexes[photo.id] == nil, let index = index(of: place) else { return }
        removed.remove(photo.id)
        photos.insert(photo, at: index)
        rebuildIndexes()
        changed.emit(.removed)
    }

    func remove(_ ids: Set<String>) {
        let count = photos.count
        photos.removeAll { ids.contains($0.id) }
        guard photos.count != count else { return }
        rebuildIndexes()
        changed.emit(.removed)
    }
}
