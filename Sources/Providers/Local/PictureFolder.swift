internal import Dispatch
internal import Glibc
internal import ImageMetadata
internal import Logging
internal import ProviderKit
internal import Storage
internal import Synchronization
internal import System
internal import Translation

/// The pictures folder, which all local users share: one index, one tree of watches.
///
/// The index has two database connections, each with a queue: one writes while the other serves pages. Scans run on
/// their own queue and make file system calls on ``FileThreads``, so that a slow or hanging disk delays neither pages
/// nor other work. If an earlier scan has completed the index, it is served at once, while the next scan runs.
final class PictureFolder: Sendable {
    struct State {
        var listeners: [Int: Listener] = [:]
        var status = SessionStatus.loading(reason: Message("The pictures folder is being read."))
        /// The number of photos in the index.
        var photoCount = 0
        /// True if the index is open and belongs to this folder.
        var isOpen = false
        /// The number of replacements by the store when the index was opened.
        var replacements = 0
        /// True if a scan has ended or failed since the index was created, possibly in an earlier process.
        var isScanned = false
        /// True if the index was damaged and has been recreated once.
        var wasRecreated = false
        /// Calls that wait for a scan of everything.
        var refreshers: [Int: Refresher] = [:]
        /// The number of the last listener or refresher.
        var lastNumber = 0
        /// The mount points when they were last compared; nil before the first scan.
        var mountPoints: Set<[UInt8]>?
        /// Files and folders that could not be read. Contains the root if the pictures folder itself could not be read.
        var unavailable: Set<RelativePath> = []
        var retries = Backoff(first: .seconds(30), factor: 2, longest: .seconds(480))
        /// The task of the next retry.
        var retry: Task<Void, Never>?
        /// The date of the photos in `memories` that clients have read last.
        var memoriesDate: CalendarDate?
        /// Detects a change of the date while the source is watched.
        var timer: Task<Void, Never>?
        var settings: LocalSettings
        /// The folders that the last scans omitted, because they are too deep.
        var deepFolders: Set<RelativePath> = []
        /// The folders that the last scans omitted, because a file hides them.
        var hiddenFolders: Set<RelativePath> = []
        /// True if the changes of some folders are not reported.
        var hasUnreported = false
        /// The notices about folders.
        var folderNotices: [String] = []
        /// The photos whose images could not be decoded since the start, with the reasons.
        var undecodable: [Int64: (path: RelativePath, reason: Message)] = [:]
        /// All notices.
        var notices: [String] = []
        var isStopped = false

        var hasWatchedMemories: Bool { listeners.values.contains(where: \.watchesMemories) }

        mutating func endTimer() {
            timer?.cancel()
            timer = nil
        }

        /// Returns true if a page of `count` photos can be served: the index contains that many, or a scan has ended.
        func canServe(_ count: Int) -> Bool {
            isScanned || isStopped || isOpen && photoCount >= count
        }
    }

    struct Refresher {
        let continuation: CheckedContinuation<IndexChanges, any Error>
        /// The changes since the call.
        var found = IndexChanges()
        /// True if the scan that the call waits for has begun.
        var isScanning = false
    }

    struct Listener {
        /// The user, as a ``UserName/key``.
        let user: String
        let events: AsyncStream<SessionEvent>.Continuation
        /// True if the user watches the source `memories`.
        var watchesMemories = false
    }

    /// The number of changes above which a scan returns its memory to the system. Small scans are frequent while a user
    /// works in the folder, and would allocate it again.
    static let manyChanges = 100
    /// The time limits of waiting for a first page, and then for the first scan.
    static let pageTimeout = Duration.seconds(5)
    static let scanTimeout = Duration.seconds(10)
    /// The time limit of a refresh. Clients wait 25 s for a reply.
    static let refreshTimeout = Duration.seconds(15)
    let root: [UInt8]
    let state: Mutex<State>
    let store: Store
    let files: FileThreads
    let clock: any Clock<Duration>
    let scans = DispatchQueue(label: "scans")
    let watcher: FolderWatcher
    private let openings = ChangeQueue()
    /// The calls that wait for a number of photos in the index.
    let waiters = WaitingCalls<Int>()
    let links: PictureLinks
    let metadataReader: MetadataReader
    let marks: LocalMarks
    let presentDay: @Sendable () -> PresentDay
    let logger: Logger

    /// - Parameters:
    ///   - root: The absolute path of the pictures folder, which need not exist.
    ///   - store: The store of the index.
    ///   - files: Makes the file system calls.
    ///   - clock: Measures the time limits of calls, and the delays before retries.
    ///   - images: Reads the metadata of the photos.
    ///   - marks: The marks of the users.
    ///   - presentDay: Returns the present date.
    ///   - settings: The settings of the user.
    ///   - cache: The folder for links. May be deleted at any time.
    ///   - logger: Receives problems with the folder and its index.
    init(
        root: [UInt8], _ store: Store, _ files: FileThreads,
        clock: any Clock<Duration>, images: any ImageProcessor, _ marks: LocalMarks,
        presentDay: @escaping @Sendable () -> PresentDay, settings: LocalSettings, cache: String,
        logger: Logger
    ) {
        state = Mutex(State(settings: settings))
        self.root = root
        self.files = files
        self.clock = clock
        self.store = store
        metadataReader = MetadataReader(root: root, store, images: images, clock: clock)
        self.marks = marks
        self.logger = logger
        links = PictureLinks(cache: cache)
        let changed = Mutex<(@Sendable (FolderWatcher.Change) -> Void)?>(nil)
        self.presentDay = presentDay
        watcher = FolderWatcher { change in changed.withLock { $0 }?(change) }
        changed.withLock { $0 = { [weak self] in self?.folderChanged($0) } }
    }

    /// Starts to scan and watch the folder.
    func start() {
        files.setRoot(root)
        files.setRecoveryHandler { [weak self] in self?.retryAtOnce() }
        metadataReader.start(self)
        startScan()
    }

    /// Opens the index for this folder, once. Concurrent calls wait.
    ///
    /// - Throws: ``StorageError/damaged(_:)`` if the store has replaced the index since, which is empty therefore.
    func openIndex() async throws {
        try await openings.run {
            if isIndexReplaced { throw StorageError.damaged(store.path) }
            if !state.withLock(\.isOpen) { try await openIndexNow() }
        }
    }

    /// True if the store has replaced the index since it was opened.
    var isIndexReplaced: Bool {
        state.withLock { $0.isOpen && $0.replacements != store.replacementCount }
    }

    private func openIndexNow() async throws {
        try await marks.load()
        let replacements = store.replacementCount
        let order = state.withLock(\.settings.order)
        let (known, isComplete) = try await store.run { [root, links, marks] database in
            let index = PictureIndex(database)
            if try !index.begin(root: root, order) { links.removeAll() }
            try marks.begin(index)
            return (try index.photoCount, try index.isComplete)
        }
        state.withLock { state in
            state.isOpen = true
            state.replacements = replacements
            state.photoCount = known
            if isComplete { state.isScanned = true }
            if known > 0 || isComplete { state.status = .ready }
        }
        emitStatus()
        for user in Set(state.withLock { $0.listeners.values.map(\.user) }) {
            emitLikeCount(of: user)
        }
        resumeWaiters()
    }

    /// Stops watching, and ends the events of all listeners.
    func stop() {
        watcher.stop()
        metadataReader.stop()
        let (listeners, retry) = state.withLock { state in
            state.isStopped = true
            state.endTimer()
            defer { state.listeners = [:] }
            return (state.listeners.values.map(\.self), state.retry)
        }
        retry?.cancel()
        resumeWaiters()
        for listener in listeners { listener.events.finish() }
    }

    /// Adds a listener for events.
    ///
    /// - Parameter user: The user of the listener, as a ``UserName/key``.
    /// - Returns: The events, beginning with the current status. They end with ``removeListener(_:)``.
    func addListener(_ user: String) -> (id: Int, events: AsyncStream<SessionEvent>) {
        let (events, continuation) = AsyncStream<SessionEvent>.makeStream()
        return state.withLock { state in
            state.lastNumber += 1
            state.listeners[state.lastNumber] = Listener(user: user, events: continuation)
            continuation.yield(.status(state.status))
            if !state.notices.isEmpty { continuation.yield(.notices(state.notices)) }
            return (state.lastNumber, events)
        }
    }

    /// Removes a listener and ends its events.
    ///
    /// - Returns: True if there are other listeners.
    func removeListener(_ id: Int) -> Bool {
        let (listener, isUsed) = state.withLock { state in
            let listener = state.listeners.removeValue(forKey: id)
            if !state.hasWatchedMemories { state.endTimer() }
            return (listener, !state.listeners.isEmpty)
        }
        listener?.events.finish()
        return isUsed
    }

    var isStopped: Bool { state.withLock(\.isStopped) }

    // MARK: Events

    func publish(_ changes: IndexChanges) {
        for row in changes.removed { links.remove(row) }
        state.withLock { state in
            state.photoCount += changes.added.count - changes.removed.count
            if !state.undecodable.isEmpty {
                for row in changes.changed.union(changes.removed) { state.undecodable[row] = nil }
            }
            for number in state.refreshers.keys { state.refreshers[number]?.found.merge(changes) }
        }
        updateNotices()
        resumeWaiters()
        for rows in changes.removed.slices { emit(.removed(rows.map(PhotoID.init(row:)))) }
        for rows in Array(changes.changed).slices {
            let pictures = try? store.runAndWait { database in
                try database.snapshot {
                    rows.compactMap { try? PictureIndex(database).photo($0) }
                }
            }
            for picture in pictures ?? [] { links.update(picture.id, absolute(picture.path)) }
            emitChanged(pictures ?? [])
        }
        for rows in Array(changes.added.keys).slices { emit(.added(rows.map(PhotoID.init(row:)))) }
        for event in changes.sourceEvents { emit(event) }
        for (user, gained) in changes.gainedLikes {
            emit(.updated(LocalSource.likes.id, new: gained), to: user)
            emitLikeCount(of: user)
        }
    }

    /// Reports photos that have changed.
    func emitChanged(_ pictures: [PictureIndex.File]) {
        emit(.changed(pictures.map { photo($0) }))
    }

    /// Emits the number of photos that a user likes.
    func emitLikeCount(of user: String) { emit(.likes(count: marks.count(of: user)), to: user) }

    /// Emits an event to all sessions, or to those of one user.
    func emit(_ event: SessionEvent, to user: String? = nil) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners where user == nil || user == listener.user {
            if case .changed(let photos) = event {
                listener.events.yield(.changed(marks.mark(photos, for: listener.user)))
            } else {
                listener.events.yield(event)
            }
        }
    }

    // MARK: Status

    /// Shows a failure in the state of the accounts.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - isOfWholeScan: True for a scan of everything, which alone can fill an index that was replaced.
    func recordFailure(_ error: any Error, isOfWholeScan: Bool = false) {
        // After a cancellation the index is incomplete.
        guard !(error is CancellationError) else { return }
        if case StorageError.damaged = error {
            if beginRecreation() { return startScan() }
            // Another caller has noticed it first, and its scan fills the new index.
            if !isOfWholeScan, state.withLock({ $0.wasRecreated && !$0.isScanned }) { return }
        }
        logger.error(
            "The pictures folder cannot be scanned", metadata: ["reason": "\(error)"])
        let isFull = (error as? StorageError) == .full || (error as? ProviderError) == .storageFull
        setStatus(.failed(reason: Message(error), remedy: isFull ? .freeSpace : .retry))
        if isFull { retryWhenThereIsRoom() }
    }

    func setStatus(_ status: SessionStatus) {
        let isNew = state.withLock { state in
            // A scan may have ended after its index was replaced, which another scan fills.
            state.isScanned = state.isOpen || status != .ready
            defer { state.status = status }
            return state.status != status
        }
        resumeWaiters()
        if isNew { emitStatus() }
    }

    private func emitStatus() { emit(.status(state.withLock(\.status))) }

    func reason(_ error: FileError) -> Message {
        let root = String(decoding: root, as: UTF8.self)
        return switch error.code {
        case ENOENT:
            Message(
                "The folder {folder} does not exist; create it, or set Directory= in imagefeed.conf.",
                ["folder": root])
        case ENOTDIR: Message("{folder} is not a folder.", ["folder": root])
        case FolderScan.notMounted:
            Message("The file system of {folder} is not mounted; mount it.", ["folder": root])
        default:
            Message(
                "{folder} cannot be read: {reason}.",
                ["folder": root, "reason": "\(error)"])
        }
    }
}

extension Array {
    /// The elements in arrays of a length that the main thread processes within milliseconds.
    fileprivate var slices: [ArraySlice<Element>] {
        stride(from: 0, to: count, by: 50).map { self[$0..<Swift.min($0 + 50, count)] }
    }
}
