internal import CLinux
internal import ImageMetadata
internal import ProviderKit
internal import Storage
internal import Synchronization

/// A background reader of the metadata of photos. Photos that a client has requested come first, then all
/// others, slowly.
final class MetadataReader: Sendable {
    private struct State {
        /// The rows requested by clients, the latest last.
        var requested: [Int64] = []
        /// The rows that could not be read. They are skipped until the next retry.
        var unreadable: Set<Int64> = []
        /// The rows of photos that clients know, whose changed files were not read yet.
        var edited: Set<Int64> = []
        /// Receives the changes; nil before ``start(_:)`` and after ``stop()``.
        weak var folder: PictureFolder?
        var isReadingRequested = false
        /// The task that reads the remaining rows; nil if there are none. It retains the reader and its database.
        var rest: Task<Void, Never>?
        /// True if there may be new rows since the last query for the remaining ones.
        var hasNewRows = false
        /// True if reading has ended permanently: there is no image helper, or the folder is closed.
        var isStopped = false
    }

    /// The maximum number of requested rows. Older requests are treated as remaining rows.
    private static let maximumRequested = 500
    private static let requestedBatch = 25
    /// The rows are stored in random order, so that each batch writes pages of the whole database: large batches write less.
    private static let restBatch = 500
    /// The time limit of ``waitForMetadata(of:)``.
    private static let timeout = Duration.milliseconds(500)
    /// The time until the remaining rows are read, so that a start, or a change of many files, can finish first.
    private static let startDelay = Duration.seconds(2)
    /// The pause after a batch in relation to the time of its work, and the minimum pause.
    private static let pauseFactor = 2.0
    private static let minimumPause = Duration.milliseconds(50)

    private let root: [UInt8]
    private let store: Store
    private let images: any ImageProcessor
    private let clock: any Clock<Duration>
    private let state = Mutex(State())
    /// The calls that wait for the metadata of a row.
    private let waiters = WaitingCalls<Int64>()

    /// - Parameters:
    ///   - root: The pictures folder.
    ///   - store: The store of the index.
    ///   - images: Reads the headers of files.
    ///   - clock: Measures the pauses.
    init(root: [UInt8], _ store: Store, images: any ImageProcessor, clock: any Clock<Duration>) {
        self.root = root
        self.store = store
        self.images = images
        self.clock = clock
    }

    /// Reads the metadata of photos that a client has requested. Reports the changed ones.
    ///
    /// - Parameter rows: The rows of the photos.
    func readMetadata(of rows: [Int64]) {
        guard !rows.isEmpty else { return }
        state.withLock { state in
            guard !state.isStopped else { return }
            let waiting = Set(state.requested)
            state.requested += rows.filter { !waiting.contains($0) }
            // The callers that wait for the removed rows are about to time out anyway.
            state.requested.removeFirst(max(0, state.requested.count - Self.maximumRequested))
            guard !state.isReadingRequested else { return }
            state.isReadingRequested = true
            Task { @MainActor in await readRequested() }
        }
    }

    /// Reports changes to a folder from now on.
    func start(_ folder: PictureFolder) {
        state.withLock { if !$0.isStopped { $0.folder = folder } }
    }

    /// Reads the metadata of a photo, and waits for it for a limited time.
    func waitForMetadata(of row: Int64) async {
        readMetadata(of: [row])
        await waiters.wait(for: row, atMost: Self.timeout, clock) {
            state.withLock { !$0.requested.contains(row) || $0.isStopped }
        }
    }

    /// Reads the metadata of all remaining photos in the background.
    ///
    /// - Parameter changed: Photos whose files have moved or changed. A file that was moved while it was read is read again.
    func readRest(after changed: Set<Int64> = []) {
        state.withLock { state in
            guard !state.isStopped else { return }
            state.unreadable.subtract(changed)
            if state.edited.isEmpty {
                state.edited = changed
            } else {
                state.edited.formUnion(changed)
            }
            state.hasNewRows = true
            if state.rest == nil { state.rest = Task { @MainActor in await readRest() } }
        }
    }

    /// Retries photos that could not be read.
    func retry() {
        let hasUnreadable = state.withLock { state in
            defer { state.unreadable = [] }
            return !state.unreadable.isEmpty
        }
        if hasUnreadable { readRest() }
    }

    /// Ends reading permanently.
    func stop() {
        let rest = state.withLock { state in
            state.isStopped = true
            state.requested = []
            state.folder = nil
            defer { state.rest = nil }
            return state.rest
        }
        rest?.cancel()
        waiters.resume()
    }

    // MARK: Reading

    private func readRequested() async {
        while let rows = nextRequested() {
            let (photos, moved) = await readMetadata(rows, inBackground: false)
            state.withLock { state in state.requested.removeAll { rows.contains($0) } }
            waiters.resume(where: rows.contains)
            let folder = state.withLock(\.folder)
            if !photos.isEmpty { folder?.emitChanged(photos) }
            folder?.emitReordered(moved)
        }
    }

    /// Returns the next requested rows, the latest first. They stay in the list while they are read.
    private func nextRequested() -> [Int64]? {
        state.withLock { state in
            let rows = state.requested.suffix(Self.requestedBatch)
            if rows.isEmpty { state.isReadingRequested = false }
            return rows.isEmpty ? nil : Array(rows)
        }
    }

    @MainActor
    private func readRest() async {
        try? await clock.sleep(for: Self.startDelay)
        var hadManyRows = false
        while let rows = await nextOfRest() {
            let begin = ContinuousClock.now
            hadManyRows = hadManyRows || rows.count >= Self.restBatch
            let (photos, moved) = await readMetadata(rows, inBackground: true)
            let edited = state.withLock { state in
                defer { state.edited.subtract(rows) }
                return photos.filter { state.edited.contains($0.id) }
            }
            if !edited.isEmpty { state.withLock(\.folder)?.emitChanged(edited) }
            state.withLock(\.folder)?.emitReordered(moved)
            let pause = (ContinuousClock.now - begin) * Self.pauseFactor
            try? await clock.sleep(for: max(Self.minimumPause, pause))
        }
        guard hadManyRows else { return }
        await store.releaseMemory()
        // Not on the main thread: it takes some milliseconds.
        try? await store.run { _ in _ = malloc_trim(0) }
    }

    private func nextOfRest() async -> [Int64]? {
        while true {
            let skipped = state.withLock { state in
                state.hasNewRows = false
                return state.unreadable
            }
            let found = try? await store.read { database in
                try PictureIndex(database).notExamined(limit: Self.restBatch + skipped.count)
            }
            let rows = (found ?? []).filter { !skipped.contains($0) }
            let isDone = state.withLock { state in
                let isDone = state.isStopped || rows.isEmpty && !state.hasNewRows
                if isDone {
                    state.rest = nil
                    state.edited = []
                }
                return isDone
            }
            if isDone { return nil }
            if !rows.isEmpty { return rows }
        }
    }

    /// Reads the headers of files, and stores the results.
    ///
    /// - Returns: The photos that have changed, and the folders with photos that have another position now.
    func readMetadata(
        _ rows: [Int64], inBackground: Bool
    ) async -> (changed: [PictureIndex.File], moved: Set<RelativePath>) {
        let pictures = try? await store.read { database in
            let index = PictureIndex(database)
            return try rows.compactMap { try index.photo($0) }
        }
        var found: [(file: PictureIndex.File, facts: ImageFacts?)] = []
        for picture in pictures ?? [] where !picture.isExamined {
            guard !state.withLock(\.isStopped) else { return ([], []) }
            guard let result = await metadata(of: picture, inBackground) else { continue }
            found.append(result)
        }
        await retryMoved(pictures ?? [])
        let results = found.sorted { $0.file.id < $1.file.id }
        guard !results.isEmpty else { return ([], []) }
        do {
            let (changed, moved, dates) = try await store.run { database in
                let index = PictureIndex(database)
                var dates: [(before: CalendarDate?, after: CalendarDate?)] = []
                var moved: Set<RelativePath> = []
                try database.transaction { () throws(StorageError) in
                    for result in results {
                        guard let change = try index.setFacts(result.facts, of: result.file) else {
                            continue
                        }
                        dates.append(change.dates)
                        if change.isMoved { moved.insert(result.file.folder) }
                    }
                }
                let changed = try results.compactMap { result in
                    let picture = try index.photo(result.file.id)
                    return picture?.facts != result.file.facts ? picture : nil
                }
                return (changed, moved, dates)
            }
            if !dates.isEmpty { state.withLock(\.folder)?.captureDatesChanged(dates) }
            return (changed, moved)
        } catch {
            // Files whose results cannot be stored are not read repeatedly, but again after a scan that a full disk
            // causes.
            state.withLock { $0.unreadable.formUnion(results.map(\.file.id)) }
            if error as? StorageError == .full { state.withLock(\.folder)?.recordFailure(error) }
            return ([], [])
        }
    }

    /// Makes files readable again that a scan has found elsewhere while they were read.
    private func retryMoved(_ pictures: [PictureIndex.File]) async {
        let failed = state.withLock { state in
            pictures.filter { state.unreadable.contains($0.id) }
        }
        guard !failed.isEmpty else { return }
        let moved = try? await store.read { database in
            let index = PictureIndex(database)
            return try failed.filter { picture in
                let now = try index.photo(picture.id)
                return now?.path != picture.path || now?.stamp != picture.stamp
            }
        }
        state.withLock { state in
            for picture in moved ?? [] { state.unreadable.remove(picture.id) }
            if moved?.isEmpty == false { state.hasNewRows = true }
        }
    }

    /// Reads the headers of a file; nil if this must be retried later. A damaged file has no facts.
    private func metadata(
        of picture: PictureIndex.File, _ inBackground: Bool
    ) async -> (file: PictureIndex.File, facts: ImageFacts?)? {
        do {
            let path = picture.path.absolute(below: root)
            var facts = try await images.probe(path, inBackground: inBackground)
            if facts.clockSeconds == nil {
                let time = CivilTime(fileName: picture.name)
                (facts.clockSeconds, facts.clockOffset) = (
                    time?.seconds, time?.offset.map(Int64.init)
                )
            }
            return (picture, facts)
        } catch {
            switch error {
            case .damaged: return (picture, nil)
            case .notSupported: stop()
            // The next attempt may be faster.
            case .notReadable, .storageFull, .failed, .tooLarge:
                state.withLock { _ = $0.unreadable.insert(picture.id) }
            }
            return nil
        }
    }
}
