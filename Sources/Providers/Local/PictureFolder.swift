internal import CLinux
internal import Dispatch
internal import Glibc
internal import Logging
internal import ProviderKit
internal import Quoting
internal import Storage
internal import Synchronization
internal import System

/// The pictures folder, as all local users see it: one index, one tree of watches.
///
/// The index has two database connections, each with a queue: one writes while the other serves pages. Scans run on a
/// queue of their own and make file system calls on ``FileThreads``, so that a slow or hanging disk delays neither
/// pages nor other work. An index that a scan has once completed is served at once, while the next scan runs.
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
        /// True if a scan of everything has ended since the index was created, maybe in an earlier process.
        var isComplete = false
        /// Whether the index was found damaged once, and begun anew.
        var wasRemade = false
        /// Pages that wait for the first photos.
        var waiters: [Waiter] = []
        /// Calls that wait for a scan of everything.
        var refreshers: [Int: Refresher] = [:]
        var lastNumber = 0
        /// Files and folders that could not be read; the pictures folder itself if that could not.
        var unavailable: Set<RelativePath> = []
        var retryDelay = PictureFolder.firstRetryDelay
        /// Retries what could not be read.
        var retry: Task<Void, Never>?
        var isStopped = false

        /// Returns true if a page of `count` photos can be answered: it is there, or the index is complete.
        func canShow(_ count: Int) -> Bool {
            isScanned || isStopped || isOpen && (isComplete || known >= count)
        }

        var canShowAll: Bool { isScanned || isStopped || isOpen && isComplete }
    }

    private struct Refresher {
        let continuation: CheckedContinuation<IndexChanges, any Error>
        /// The changes since the call.
        var found = IndexChanges()
        /// True if the scan that the call waits for has begun.
        var isScanning = false
    }

    private struct Listener {
        /// Who listens: a ``UserName/key``.
        let user: String
        let events: AsyncStream<SessionEvent>.Continuation
    }

    private struct Waiter {
        let number: Int
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    /// Fewer changes are found again and again while somebody works in the folder: what they take is kept.
    private static let manyChanges = 100
    /// How long a call waits for a first page, and then for the first scan.
    private static let pageLimit = Duration.seconds(5)
    private static let scanLimit = Duration.seconds(10)
    /// How long a refresh waits for its scan. Clients wait 25 s for a reply.
    private static let refreshLimit = Duration.seconds(15)
    /// The delays after which files that could not be read are tried again: each one is twice the one before.
    private static let firstRetryDelay = Duration.seconds(30)
    private static let longestRetryDelay = Duration.seconds(480)

    let root: [UInt8]
    private let state = Mutex(State())
    let database: PictureDatabase
    private let files: FileThreads
    private let clock: any Clock<Duration>
    private let scans = DispatchQueue(label: "scans")
    private let watcher: FolderWatcher
    private let openings = ChangeQueue()
    private let links: PictureLinks
    private let examination: MetadataReader
    let favourites: LocalLikes
    /// The number of scans whose changes have not been reconciled with the likes yet.
    let scansInProgress = Atomic(0)
    let logger: Logger

    /// - Parameters:
    ///   - root: The absolute path of the pictures folder, which need not exist.
    ///   - database: Where the index is kept.
    ///   - files: Makes the file system calls.
    ///   - clock: Measures the time limits of calls, and the delays before retries.
    ///   - examination: Looks into the photos.
    ///   - favourites: The likes of the users.
    ///   - cache: The folder for links. May be deleted at any time.
    ///   - logger: Where to report to.
    init(
        root: [UInt8], _ database: PictureDatabase, _ files: FileThreads,
        clock: any Clock<Duration>, _ examination: MetadataReader, _ favourites: LocalLikes,
        cache: String, logger: Logger
    ) {
        self.root = root
        self.files = files
        self.clock = clock
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
        files.setRoot(root)
        files.setRecoveryHandler { [weak self] in self?.retrySoon() }
        Task { @MainActor in try? await scan(nil) }
    }

    /// Makes the index that of this folder, once: who comes meanwhile waits until likes are looked for anew.
    private func open() async throws {
        try await openings.run {
            if !state.withLock(\.isOpen) { try await openFirst() }
        }
    }

    private func openFirst() async throws {
        let root = root
        let former = try await database.writer.run { try PictureIndex($0).root }
        if former != root { await moveLikes(from: former) }
        let (known, isComplete) = try await database.writer.run { [links] database in
            let index = PictureIndex(database)
            if try index.begin(root: root) != .same { links.removeAll() }
            return (try index.photoCount, try index.isComplete)
        }
        // Both connections to one file, also if the folder is deleted between now and the first page.
        try await database.reader.run { _ in }
        state.withLock { state in
            state.isOpen = true
            state.known = known
            state.isComplete = isComplete
            if known > 0 || isComplete { state.status = .ready }
        }
        tellStatus()
        wakeWaiters()
    }

    /// Stops watching, and ends what listeners hear.
    func stop() {
        watcher.stop()
        examination.stop()
        let (listeners, retry) = state.withLock { state in
            state.isStopped = true
            defer { state.listeners = [:] }
            return (state.listeners.values.map(\.self), state.retry)
        }
        retry?.cancel()
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

    var isStopped: Bool { state.withLock(\.isStopped) }

    // MARK: What clients ask

    /// Runs `body` on the index. If the index is complete, that is at once. Otherwise it is when the first scan has
    /// found `count` photos or has ended.
    ///
    /// - Parameters:
    ///   - count: The number of photos to wait for.
    ///   - isWhole: Returns true if the value does not depend on photos that the first scan has not found yet. If it
    ///     returns false, or if `body` throws `notFound`, `body` runs once more after the first scan.
    ///   - isUsable: Returns true if the value is better than none when the time limit is over.
    ///   - isBrief: True if `body` reads some rows by an index, and nothing else.
    ///   - body: Sees one state of the index.
    /// - Returns: The value of `body`.
    /// - Throws: The error of `body`; `ProviderError` for a folder or an index that cannot be read, and for a first
    ///   scan that takes longer than the time limit.
    func read<Value: Sendable>(
        atLeast count: Int = 1, until isWhole: (Value) -> Bool = { _ in true },
        orAtLimit isUsable: (Value) -> Bool = { _ in false }, isBrief: Bool = false,
        _ body: @escaping @Sendable (PictureIndex) throws -> Value
    ) async throws -> Value {
        let isInTime = await waitForPhotos(count, Self.pageLimit)
        let canShowAll = state.withLock(\.canShowAll)
        do {
            let value = try await readNow(isBrief, body)
            if canShowAll || isWhole(value) || !isInTime && isUsable(value) { return value }
        } catch ProviderError.notFound where !canShowAll {
        } catch StorageError.damaged where mayRemake() {
            await remake()
            startScan()
        }
        _ = await waitForPhotos(.max, Self.scanLimit)
        do {
            let value = try await readNow(isBrief, body)
            if state.withLock(\.canShowAll) || isWhole(value) || isUsable(value) { return value }
        } catch ProviderError.notFound where !state.withLock(\.canShowAll) {}
        throw ProviderError.failed("The pictures folder is still being read; try again later.")
    }

    /// True if the index has all photos of the folder, as far as a scan has seen them.
    var canShowAll: Bool { state.withLock(\.canShowAll) }

    private func readNow<Value: Sendable>(
        _ isBrief: Bool, _ body: @escaping @Sendable (PictureIndex) throws -> Value
    ) async throws -> Value {
        if case .failed(let reason, _) = state.withLock(\.status), !state.withLock(\.isOpen) {
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

    /// Scans everything, and waits for the result for a limited time. The scan continues after that.
    ///
    /// - Returns: The changes that the scan has found, or those so far if the time is over. Calls before the scan
    ///   begins share it.
    func refresh() async throws -> IndexChanges {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let timer = Task { @MainActor [clock] in
            try await clock.sleep(for: Self.refreshLimit)
            let refresher = state.withLock { $0.refreshers.removeValue(forKey: number) }
            refresher?.continuation.resume(returning: refresher?.found ?? IndexChanges())
        }
        defer { timer.cancel() }
        return try await withCheckedThrowingContinuation { continuation in
            let isFirst = state.withLock { state in
                defer { state.refreshers[number] = Refresher(continuation: continuation) }
                return state.refreshers.values.allSatisfy(\.isScanning)
            }
            if isFirst { startScan() }
        }
    }

    /// The absolute path of a picture, as bytes.
    func absolute(_ picture: PictureIndex.Picture) -> [UInt8] {
        absolute(picture.path)
    }

    /// Returns a path to the picture that is UTF-8: its own, or that of a link in the cache.
    ///
    /// - Throws: `ProviderError` if the file is gone or does not respond.
    func servablePath(_ picture: PictureIndex.Picture, id: PhotoID) async throws -> String {
        let path = absolute(picture)
        let result = await files.run(path) { [links] progress in
            let lookup = FileStatus.look(path, progress)
            guard case .found(let status) = lookup, status.kind == .file,
                String(validating: path, as: UTF8.self) == nil
            else { return (lookup, Result<String?, ProviderError>.success(nil)) }
            return (
                lookup,
                Result { () throws(ProviderError) in try links.make(id, to: path) }
            )
        }
        guard let (lookup, link) = result else { throw Self.noResponse }
        switch lookup {
        case .unavailable(let code): throw Self.unreadable(id, code)
        case .found(let status) where status.kind == .file:
            return try link.get() ?? String(decoding: path, as: UTF8.self)
        case .found, .absent: throw Self.noPhoto(id)
        }
    }

    /// Opens the file of a picture for reading. The caller closes the descriptor.
    ///
    /// - Throws: `ProviderError` if the file is gone, cannot be read or does not respond.
    func open(_ picture: PictureIndex.Picture, id: PhotoID) async throws -> Int32 {
        let path = absolute(picture)
        let result = await files.run(path) {
            if case .success(let descriptor) = $0 { close(descriptor) }
        } _: {
            Self.open(path, $0)
        }
        switch result {
        case nil: throw Self.noResponse
        case .success(let descriptor): return descriptor
        case .failure(let error) where FileStatus.provesAbsence(error.code):
            throw Self.noPhoto(id)
        case .failure(let error): throw Self.unreadable(id, error.code)
        }
    }

    private static func open(
        _ path: [UInt8], _ progress: FileProgress
    ) -> Result<Int32, FolderListing.Unreadable> {
        let fault = progress.begin(path)
        guard fault == 0 else { return .failure(.init(code: fault)) }
        // Not blocking: the file may have been replaced by a pipe.
        let descriptor = withCPath(path) {
            Glibc.open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        }
        guard descriptor >= 0 else { return .failure(.init(code: errno)) }
        guard FileStatus(descriptor: descriptor)?.kind == .file else {
            close(descriptor)
            return .failure(.init(code: ENOENT))
        }
        return .success(descriptor)
    }

    static let noResponse = ProviderError.failed(
        "The disk with the photo does not respond; try again later.")

    private static func unreadable(_ id: PhotoID, _ code: Int32) -> ProviderError {
        .failed(
            "The file of photo \(id.text.quoted) cannot be read: \(String(cString: strerror(code)))."
        )
    }

    static func noPhoto(_ id: PhotoID) -> ProviderError {
        .notFound("There is no photo \(id.text.quoted).")
    }

    /// Waits until a page of `count` photos can be shown, or the time limit is over.
    ///
    /// - Returns: False if the time limit is over.
    private func waitForPhotos(_ count: Int, _ limit: Duration) async -> Bool {
        guard !state.withLock({ $0.canShow(count) }) else { return true }
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let timer = Task { @MainActor [clock] in
            try await clock.sleep(for: limit)
            let waiter = state.withLock { state -> Waiter? in
                guard let index = state.waiters.firstIndex(where: { $0.number == number }) else {
                    return nil
                }
                return state.waiters.remove(at: index)
            }
            waiter?.continuation.resume()
        }
        defer { timer.cancel() }
        await withCheckedContinuation { continuation in
            let canGoOn = state.withLock { state in
                if state.canShow(count) { return true }
                state.waiters.append(
                    Waiter(number: number, count: count, continuation: continuation))
                return false
            }
            if canGoOn { continuation.resume() }
        }
        return state.withLock { $0.canShow(count) }
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

    /// Scans everything.
    private func startScan() {
        Task { @MainActor in try? await scan(nil) }
    }

    /// Scans what has changed, or everything for nil, and answers the calls that wait for it.
    private func scan(_ entries: [FolderWatcher.Entry]?) async throws {
        scansInProgress.add(1, ordering: .relaxed)
        defer { scansInProgress.subtract(1, ordering: .relaxed) }
        let found = Mutex(IndexChanges())
        do {
            try await open()
            try await withCheckedThrowingContinuation { continuation in
                scans.async { [self] in
                    let refreshers = entries == nil ? beginRefresh() : []
                    let result = Result { try scan(entries, found) }
                    endRefresh(refreshers, result.map { found.withLock { $0 } })
                    if entries == nil || found.withLock(\.count) > Self.manyChanges {
                        // What a scan of many files took is given back to the system.
                        try? database.writer.runAndWait { $0.releaseMemory() }
                        malloc_trim(0)
                    }
                    continuation.resume(with: result)
                }
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
            let isThere = await files.run(root) { [watcher, root] progress in
                watcher.watchAncestor(of: root)
                // It may have come just before it was waited for.
                return FileStatus.look(root, progress).status?.kind == .folder
            }
            if error.code == ENOENT, isThere == true { try await scan(nil) }
        } catch StorageError.damaged where mayRemake() {
            await remake()
            try await scan(nil)
        } catch {
            endRefresh(
                state.withLock { Array($0.refreshers.keys) }, Result.failure(error))
            fail(error)
            // The index is read by half.
            guard !(error is CancellationError) else { return }
        }
        await followLikes(entries == nil ? nil : found.withLock { $0 })
    }

    // MARK: Retries

    /// Takes note of what a scan could not read, and retries it later.
    ///
    /// - Parameters:
    ///   - paths: The files and folders that the scan could not read.
    ///   - entries: What it has scanned; nil for everything.
    private func noteUnavailable(
        _ paths: Set<RelativePath>, in entries: [FolderWatcher.Entry]?
    ) {
        let (isNew, isRecovered, retryDelay) = state.withLock { state in
            let before = state.unavailable
            if let entries {
                state.unavailable.subtract(entries.map { $0.folder.appending($0.name) })
                state.unavailable.formUnion(paths)
            } else {
                state.unavailable = paths
            }
            return (
                before.isEmpty && !state.unavailable.isEmpty,
                !before.subtracting(state.unavailable).isEmpty, nextRetry(&state)
            )
        }
        if isNew {
            logger.warning(
                "Some photos cannot be read; they stay as they were",
                metadata: ["count": "\(paths.count)"])
        }
        if isRecovered { examination.retry() }
        if let retryDelay { retry(after: retryDelay) }
    }

    /// Returns the delay of the next retry; nil if there is nothing to retry, or a retry is under way.
    private func nextRetry(_ state: inout State) -> Duration? {
        guard !state.isStopped, !state.unavailable.isEmpty else {
            state.retryDelay = Self.firstRetryDelay
            return nil
        }
        guard state.retry == nil else { return nil }
        defer { state.retryDelay = min(state.retryDelay * 2, Self.longestRetryDelay) }
        return state.retryDelay
    }

    private func retry(after delay: Duration) {
        let task = Task { @MainActor [weak self, clock] in
            do { try await clock.sleep(for: delay) } catch { return }
            await self?.retryNow()
        }
        state.withLock { state in
            if state.isStopped { task.cancel() } else { state.retry = task }
        }
    }

    /// Retries what could not be read, since a file system responds again.
    private func retrySoon() {
        let (task, isNeeded) = state.withLock { state in
            state.retryDelay = Self.firstRetryDelay
            let isNeeded = !state.isStopped && !state.unavailable.isEmpty
            defer { if isNeeded { state.retry = nil } }
            return (isNeeded ? state.retry : nil, isNeeded)
        }
        task?.cancel()
        examination.retry()
        if isNeeded { Task { @MainActor in await retryNow() } }
    }

    private func retryNow() async {
        let entries = state.withLock { state -> [FolderWatcher.Entry]? in
            state.retry = nil
            guard !state.unavailable.contains(.root) else { return nil }
            return state.unavailable.compactMap(\.split).map {
                FolderWatcher.Entry(folder: $0.folder, name: $0.name, isSettled: true)
            }
        }
        guard entries?.isEmpty != true else { return }
        try? await scan(entries)
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
            state.isComplete = false
        }
    }

    /// Returns the calls that the scan that begins now answers.
    private func beginRefresh() -> [Int] {
        state.withLock { state in
            for number in state.refreshers.keys { state.refreshers[number]?.isScanning = true }
            return Array(state.refreshers.keys)
        }
    }

    private func endRefresh(_ numbers: [Int], _ result: Result<IndexChanges, any Error>) {
        let refreshers = state.withLock { state in
            numbers.compactMap { state.refreshers.removeValue(forKey: $0) }
        }
        for refresher in refreshers { refresher.continuation.resume(with: result) }
    }

    /// Scans on the scan queue.
    private func scan(
        _ entries: [FolderWatcher.Entry]?, _ found: borrowing Mutex<IndexChanges>
    ) throws {
        guard !state.withLock(\.isStopped) else { throw CancellationError() }
        var total = IndexChanges()
        defer { found.withLock { $0 = total } }
        let scan = FolderScan(
            root: root, database.writer, PictureFiles(files), watcher,
            isStopped: { [self] in state.withLock(\.isStopped) }
        ) { [self] changes in
            total.merge(changes)
            favourites.recordReplacements(changes)
            tell(changes)
        }
        do {
            if let entries { try scan.scan(entries) } else { try scan.scanAll() }
        } catch let error as FolderScan.RootUnreadable {
            noteUnavailable(
                FileStatus.provesAbsence(error.code) ? [] : [.root], in: nil)
            throw error
        }
        noteUnavailable(scan.unavailable, in: entries)
    }

    private func tell(_ changes: IndexChanges) {
        let pictures = try? database.writer.runAndWait { database in
            let index = PictureIndex(database)
            return changes.changed.compactMap { try? index.picture($0) }
        }
        let paths = Dictionary(
            (pictures ?? []).map { ($0.file.id, absolute($0)) }, uniquingKeysWith: { $1 })
        links.update(changes) { paths[$0] }
        let photos = (pictures ?? []).map { Photo($0) }
        state.withLock { state in
            state.known += changes.newCount - changes.removed.count
            for number in state.refreshers.keys { state.refreshers[number]?.found.merge(changes) }
        }
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
        let isFull = (error as? StorageError) == .full || (error as? ProviderError) == .storageFull
        setStatus(.failed(reason: "\(error)", remedy: isFull ? .freeSpace : .retry))
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
        let root = String(decoding: root, as: UTF8.self)
        return switch error.code {
        case ENOENT:
            "There is no folder \(root); create it, or set Directory= in imagefeed.conf."
        case FolderScan.RootUnreadable.notMounted:
            "The file system of \(root) is not mounted; mount it."
        default: "\(root) cannot be read: \(String(cString: strerror(error.code)))."
        }
    }
}
