internal import CLinux
internal import Glibc
internal import Logging
internal import ProviderKit
internal import Storage
internal import Synchronization

/// The pictures folder, as all local users see it: one index, one tree of watches.
///
/// All work is done on the queues of its two database connections: one writes while the other serves pages.
final class PictureFolder: Sendable {
    private struct State {
        var listeners: [Int: Listener] = [:]
        var lastListener = 0
        var status = SessionStatus.loading(reason: "The pictures folder is being read.")
        /// How many photos the index has.
        var known = 0
        /// Whether the index is open, and about this folder.
        var isOpen = false
        var isScanned = false
        /// Whether the index was found damaged once, and begun anew.
        var wasRemade = false
        /// Pages that wait for the first photos.
        var waiters: [Waiter] = []
        /// Whoever waits for the scan that is to begin.
        var refreshers: [CheckedContinuation<IndexChanges, any Error>] = []
        var isStopped = false

        /// Whether a page of `count` photos can be answered: it is there, or nothing more will come.
        func canShow(_ count: Int) -> Bool { isScanned || isStopped || isOpen && known >= count }
    }

    private struct Listener {
        /// Who listens: a ``UserName/key``.
        let user: String
        let events: AsyncStream<SessionEvent>.Continuation
    }

    private struct Waiter {
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    /// Fewer changes are found again and again while somebody works in the folder: what they take is kept.
    private static let manyChanges = 100

    let root: String
    private let state = Mutex(State())
    let database: PictureDatabase
    private let watcher: FolderWatcher
    private let openings = ChangeQueue()
    private let links: PictureLinks
    private let examination: Examination
    let favourites: Favourites
    private let logger: Logger

    /// - Parameters:
    ///   - root: The absolute path of the pictures folder, which need not exist.
    ///   - database: Where the index is kept.
    ///   - examination: Looks into the photos.
    ///   - favourites: What the users like.
    ///   - cache: The folder for links. May be deleted at any time.
    ///   - logger: Where to report to.
    init(
        root: String, _ database: PictureDatabase, _ examination: Examination,
        _ favourites: Favourites, cache: String,
        logger: Logger
    ) {
        self.root = root
        self.database = database
        self.examination = examination
        self.favourites = favourites
        self.logger = logger
        links = PictureLinks(cache: cache)
        let changed = Mutex<(@Sendable (FolderWatcher.Change) -> Void)?>(nil)
        watcher = FolderWatcher { change in changed.withLock { $0 }?(change) }
        changed.withLock { $0 = { [weak self] in self?.folderChanged($0) } }
    }

    /// Begins to read and to watch the folder.
    func start() {
        Task { @MainActor in try? await scan(nil) }
    }

    /// Makes the index that of this folder, once: who comes meanwhile waits until likes are looked for anew.
    private func open() async throws {
        try await openings.run {
            if !state.withLock(\.isOpen) { try await openFirst() }
        }
    }

    private func openFirst() async throws {
        let root = Array(root.utf8)
        let (beginning, known) = try await database.writer.run { [links] database in
            let index = PictureIndex(database)
            let beginning = try index.begin(root: root)
            if beginning != .same { links.removeAll() }
            return (beginning, try index.photoCount)
        }
        if beginning == .other { try await favourites.loseSight() }
        // Both connections to one file, also if the folder is deleted between now and the first page.
        try await database.reader.run { _ in }
        state.withLock { state in
            state.isOpen = true
            state.known = known
            if known > 0 { state.status = .ready }
        }
        tellStatus()
        wakeWaiters()
    }

    /// Stops watching, and ends what listeners hear.
    func stop() {
        watcher.stop()
        examination.stop()
        let listeners = state.withLock { state in
            state.isStopped = true
            defer { state.listeners = [:] }
            return state.listeners.values.map(\.self)
        }
        wakeWaiters()
        for listener in listeners { listener.events.finish() }
    }

    /// Lets somebody hear what happens from now on.
    ///
    /// - Parameter user: Who listens: a ``UserName/key``.
    /// - Returns: What happens, the present status first; it ends with ``unlisten(_:)``.
    func listen(_ user: String) -> (id: Int, events: AsyncStream<SessionEvent>) {
        let (events, continuation) = AsyncStream<SessionEvent>.makeStream()
        return state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = Listener(user: user, events: continuation)
            continuation.yield(.status(state.status))
            return (state.lastListener, events)
        }
    }

    /// Ends what one listener hears.
    ///
    /// - Returns: Whether somebody else is listening still.
    func unlisten(_ id: Int) -> Bool {
        let (listener, isUsed) = state.withLock { state in
            (state.listeners.removeValue(forKey: id), !state.listeners.isEmpty)
        }
        listener?.events.finish()
        return isUsed
    }

    // MARK: What clients ask

    /// Runs `body` on the index, once it has photos to show: `count` of them, or all there are.
    ///
    /// - Parameters:
    ///   - count: How many photos to wait for.
    ///   - isWhole: Whether what `body` returned holds however many photos are still to be found. If not, or
    ///     if it found nothing, `body` runs once more after the first scan.
    ///   - isBrief: Whether `body` reads some rows by an index, and nothing else.
    ///   - body: Sees one state of the index.
    /// - Returns: What `body` returned.
    /// - Throws: What `body` throws; `ProviderError` for a folder or an index that cannot be read.
    func read<Value: Sendable>(
        atLeast count: Int = 1, until isWhole: (Value) -> Bool = { _ in true },
        isBrief: Bool = false, _ body: @escaping @Sendable (PictureIndex) throws -> Value
    ) async throws -> Value {
        await waitForPhotos(count)
        let wasScanned = state.withLock(\.isScanned)
        do {
            let value = try await readNow(isBrief, body)
            if wasScanned || isWhole(value) { return value }
        } catch ProviderError.notFound where !wasScanned {
        } catch StorageError.damaged where mayRemake() {
            await remake()
            try? await scan(nil)
        }
        await waitForPhotos(.max)
        return try await readNow(isBrief, body)
    }

    private func readNow<Value: Sendable>(
        _ isBrief: Bool, _ body: @escaping @Sendable (PictureIndex) throws -> Value
    ) async throws -> Value {
        if case .failed(let reason) = state.withLock(\.status), !state.withLock(\.isOpen) {
            throw ProviderError.failed(reason)
        }
        do {
            let read: @Sendable (Database) throws -> Value = { database in
                let result = try database.snapshot { () throws(StorageError) in
                    Result { try body(PictureIndex(database)) }
                }
                return try result.get()
            }
            let reader = database.reader
            return try await isBrief ? reader.runBriefly(read) : reader.run(read)
        } catch StorageError.full {
            throw ProviderError.storageFull
        } catch let error as StorageError {
            if case .damaged = error, !state.withLock(\.wasRemade) { throw error }
            throw ProviderError.failed("\(error)")
        }
    }

    /// Has photos examined that somebody is shown; what is found is told as a change.
    func examine(_ rows: [Int64]) {
        examination.examine(rows) { [weak self] photos in self?.tell(.changed(photos)) }
    }

    /// Has a photo examined, and waits for that, though not for long.
    func examined(_ row: Int64) async {
        examine([row])
        await examination.examined(row)
    }

    /// Compares everything, now.
    ///
    /// - Returns: What was found. Whoever asks before the scan begins shares it.
    func refresh() async throws -> IndexChanges {
        try await withCheckedThrowingContinuation { continuation in
            let isFirst = state.withLock { state in
                state.refreshers.append(continuation)
                return state.refreshers.count == 1
            }
            if isFirst { Task { @MainActor in try? await scan(nil) } }
        }
    }

    /// The absolute path of a picture, as bytes.
    func absolute(_ picture: PictureIndex.Picture) -> [UInt8] {
        absolute(picture.path)
    }

    /// A path to the picture that is UTF-8: its own, or that of a link of ours.
    ///
    /// Blocks; called on a queue of the index.
    func servablePath(_ picture: PictureIndex.Picture, id: PhotoID) throws -> String {
        let path = absolute(picture)
        guard FileStatus(path)?.kind == .file else { throw Self.noPhoto(id) }
        if let text = String(validating: path, as: UTF8.self) { return text }
        return try links.make(id, to: path)
    }

    static func noPhoto(_ id: PhotoID) -> ProviderError {
        .notFound("There is no photo \"\(id)\".")
    }

    private func waitForPhotos(_ count: Int) async {
        guard !state.withLock({ $0.canShow(count) }) else { return }
        await withCheckedContinuation { continuation in
            let canGoOn = state.withLock { state in
                if state.canShow(count) { return true }
                state.waiters.append(Waiter(count: count, continuation: continuation))
                return false
            }
            if canGoOn { continuation.resume() }
        }
    }

    private func wakeWaiters() {
        let awake = state.withLock { state in
            let waiters = state.waiters
            state.waiters = waiters.filter { !state.canShow($0.count) }
            return waiters.filter { state.canShow($0.count) }
        }
        for waiter in awake { waiter.continuation.resume() }
    }

    // MARK: Scanning

    private func folderChanged(_ change: FolderWatcher.Change) {
        Task { @MainActor in
            switch change {
            case .everything: try? await scan(nil)
            case .entries(let entries): try? await scan(entries)
            }
        }
    }

    /// Scans what has changed, or everything for nil, and answers those who asked for it.
    private func scan(_ entries: [FolderWatcher.Entry]?) async throws {
        let found = Mutex(IndexChanges())
        do {
            try await open()
            try await database.writer.run { [self] database in
                let refreshers = entries == nil ? takeRefreshers() : []
                let result = Result { try scan(entries, database, found) }
                for refresher in refreshers {
                    refresher.resume(with: result.map { found.withLock { $0 } })
                }
                if entries == nil || found.withLock(\.count) > Self.manyChanges {
                    // What a scan of many files took is given back to the system.
                    database.releaseMemory()
                    malloc_trim(0)
                }
                try result.get()
            }
            if watcher.isOutOfWatches {
                logger.warning(
                    "Changes in some folders will not be noticed; raise fs.inotify.max_user_watches"
                )
            }
            setStatus(.ready)
            examination.examineRest()
        } catch let error as FolderScan.RootUnreadable {
            setStatus(.failed(reason: reason(error)))
            watcher.watchAncestor(of: Array(root.utf8))
            // It may have come just before it was waited for.
            let mayBeThere = error.code == ENOENT && FileStatus(Array(root.utf8))?.kind == .folder
            if mayBeThere { try await scan(nil) }
        } catch StorageError.damaged where mayRemake() {
            await remake()
            try await scan(nil)
        } catch {
            for refresher in takeRefreshers() { refresher.resume(throwing: error) }
            fail(error)
            // The index is read by half.
            guard !(error is CancellationError) else { return }
        }
        await followLikes(entries == nil ? nil : found.withLock { $0 })
    }

    /// Whether a damaged index shall be made anew: once, by whoever finds it first.
    private func mayRemake() -> Bool {
        state.withLock { state in
            defer { state.wasRemade = true }
            return !state.wasRemade
        }
    }

    /// Throws a damaged index away, so that the next scan begins a new one.
    private func remake() async {
        await database.discard()
        state.withLock { state in
            state.isOpen = false
            state.isScanned = false
        }
    }

    private func takeRefreshers() -> [CheckedContinuation<IndexChanges, any Error>] {
        state.withLock { state in
            defer { state.refreshers = [] }
            return state.refreshers
        }
    }

    private func scan(
        _ entries: [FolderWatcher.Entry]?, _ database: Database,
        _ found: borrowing Mutex<IndexChanges>
    ) throws {
        guard !state.withLock(\.isStopped) else { throw CancellationError() }
        let index = PictureIndex(database)
        var total = IndexChanges()
        defer { found.withLock { $0 = total } }
        let scan = FolderScan(
            root: Array(root.utf8), index, watcher,
            isStopped: { [self] in state.withLock(\.isStopped) }
        ) { [self] changes in
            total.merge(changes)
            tell(changes, index)
        }
        if let entries { try scan.scan(entries) } else { try scan.scanAll() }
    }

    private func tell(_ changes: IndexChanges, _ index: PictureIndex) {
        links.update(changes)
        let photos = changes.changed.compactMap { try? index.picture($0) }.map { Photo($0) }
        state.withLock { $0.known += changes.newCount - changes.removed.count }
        wakeWaiters()
        for event in changes.events(photos) { tell(event) }
    }

    private func tell(_ event: SessionEvent) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners {
            if case .changed(let photos) = event {
                listener.events.yield(.changed(favourites.mark(photos, for: listener.user)))
            } else {
                listener.events.yield(event)
            }
        }
    }

    /// Tells one user.
    func tell(_ event: SessionEvent, to user: String) {
        let listeners = state.withLock { $0.listeners.values.filter { $0.user == user } }
        for listener in listeners { listener.events.yield(event) }
    }

    // MARK: Status

    private func fail(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        logger.error(
            "The photos of the pictures folder cannot be shown", metadata: ["reason": "\(error)"])
        setStatus(.failed(reason: "\(error)"))
    }

    private func setStatus(_ status: SessionStatus) {
        let isNew = state.withLock { state in
            state.isScanned = true
            defer { state.status = status }
            return state.status != status
        }
        wakeWaiters()
        if isNew { tellStatus() }
    }

    private func tellStatus() { tell(.status(state.withLock(\.status))) }

    private func reason(_ error: FolderScan.RootUnreadable) -> String {
        error.code == ENOENT
            ? "There is no folder \(root); create it, or set Directory= in imagefeed.conf."
            : "\(root) cannot be read: \(String(cString: strerror(error.code)))."
    }
}
