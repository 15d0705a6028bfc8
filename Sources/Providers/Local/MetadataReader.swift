internal import ProviderKit
internal import Storage
internal import Synchronization

/// Looks into photos in the background, to tell their sizes and dates: what somebody sees first, and all
/// others little by little.
final class MetadataReader: Sendable {
    private struct State {
        /// What somebody sees, the latest last.
        var seen: [Int64] = []
        var waiters: [Int64: [CheckedContinuation<Void, Never>]] = [:]
        /// What could not be read, this time.
        var unreadable: Set<Int64> = []
        var tell: (@Sendable ([Photo]) -> Void)?
        var isExaminingSeen = false
        var isExaminingRest = false
        /// Whether there may be more since the rest was examined.
        var isRestNew = false
        /// Whether there is nobody who looks into files, or nobody for whom.
        var isOver = false
    }

    /// More than this nobody sees at once; others are the rest.
    private static let mostSeen = 500
    private static let batchOfSeen = 25
    private static let batchOfRest = 100
    /// How long `examined` waits.
    private static let patience = Duration.milliseconds(500)
    /// The rest is begun when a start, or a change of many files, is over.
    private static let calm = Duration.seconds(2)
    /// How much longer than the work the pauses in between are, and how long at least.
    private static let ease = 2.0
    private static let shortestPause = Duration.milliseconds(50)

    private let root: [UInt8]
    private let database: PictureDatabase
    private let images: any ImageProcessor
    private let clock: any Clock<Duration>
    private let state = Mutex(State())

    /// - Parameters:
    ///   - root: The pictures folder.
    ///   - database: Where the index is.
    ///   - images: Who looks into files.
    ///   - clock: Measures the pauses.
    init(
        root: [UInt8], _ database: PictureDatabase, images: any ImageProcessor,
        clock: any Clock<Duration>
    ) {
        self.root = root
        self.database = database
        self.images = images
        self.clock = clock
    }

    /// Examines photos that somebody sees.
    ///
    /// - Parameters:
    ///   - rows: Their rows.
    ///   - tell: Told of those that are other than they were.
    func examine(_ rows: [Int64], tell: @escaping @Sendable ([Photo]) -> Void) {
        guard !rows.isEmpty else { return }
        let begins = state.withLock { state in
            guard !state.isOver else { return false }
            state.tell = tell
            let waiting = Set(state.seen)
            state.seen += rows.filter { !waiting.contains($0) }
            // Whoever waits for one of those is about to give up anyway.
            state.seen.removeFirst(max(0, state.seen.count - Self.mostSeen))
            defer { state.isExaminingSeen = true }
            return !state.isExaminingSeen
        }
        if begins { Task { @MainActor in await examineSeen() } }
    }

    /// Waits until a photo is examined that ``examine(_:tell:)`` was called for, but not for long.
    func examined(_ row: Int64) async {
        let timer = Task { @MainActor in
            try await clock.sleep(for: Self.patience)
            wake([row])
        }
        await withCheckedContinuation { continuation in
            let isWaiting = state.withLock { state in
                guard state.seen.contains(row), !state.isOver else { return false }
                state.waiters[row, default: []].append(continuation)
                return true
            }
            if !isWaiting { continuation.resume() }
        }
        timer.cancel()
    }

    /// Examines all that were not, when there is time.
    func examineRest() {
        let begins = state.withLock { state in
            guard !state.isOver else { return false }
            state.isRestNew = true
            defer { state.isExaminingRest = true }
            return !state.isExaminingRest
        }
        if begins { Task { @MainActor in await examineRest() } }
    }

    /// Tries photos again that could not be read, since that may have changed.
    func retry() {
        let hasUnreadable = state.withLock { state in
            defer { state.unreadable = [] }
            return !state.unreadable.isEmpty
        }
        if hasUnreadable { examineRest() }
    }

    /// Ends it for good.
    func stop() {
        let rows = state.withLock { state in
            state.isOver = true
            state.seen = []
            state.tell = nil
            return Array(state.waiters.keys)
        }
        wake(rows)
    }

    // MARK: Working

    private func examineSeen() async {
        while let rows = nextSeen() {
            let photos = await examine(rows, .now)
            let tell = state.withLock { state in
                state.seen.removeAll { rows.contains($0) }
                return state.tell
            }
            wake(rows)
            if !photos.isEmpty { tell?(photos) }
        }
    }

    /// The next ones, the latest first; they stay in the list while they are worked on.
    private func nextSeen() -> [Int64]? {
        state.withLock { state in
            let rows = state.seen.suffix(Self.batchOfSeen)
            if rows.isEmpty { state.isExaminingSeen = false }
            return rows.isEmpty ? nil : Array(rows)
        }
    }

    @MainActor
    private func examineRest() async {
        try? await clock.sleep(for: Self.calm)
        while let rows = await nextOfRest() {
            let begin = ContinuousClock.now
            _ = await examine(rows, .later)
            let pause = (ContinuousClock.now - begin) * Self.ease
            try? await clock.sleep(for: max(Self.shortestPause, pause))
        }
    }

    private func nextOfRest() async -> [Int64]? {
        while true {
            let skipped = state.withLock { state in
                state.isRestNew = false
                return state.unreadable
            }
            let found = try? await database.reader.run { database in
                try PictureIndex(database).notExamined(limit: Self.batchOfRest + skipped.count)
            }
            let rows = (found ?? []).filter { !skipped.contains($0) }
            let isOver = state.withLock { state in
                let isOver = state.isOver || rows.isEmpty && !state.isRestNew
                if isOver { state.isExaminingRest = false }
                return isOver
            }
            if isOver { return nil }
            if !rows.isEmpty { return rows }
        }
    }

    /// Looks into files, and notes what they tell.
    ///
    /// - Returns: The photos that are other than they were.
    private func examine(_ rows: [Int64], _ urgency: ImageUrgency) async -> [Photo] {
        let pictures = try? await database.reader.run { database in
            let index = PictureIndex(database)
            return try rows.compactMap { try index.picture($0) }
        }
        var found: [(file: PictureIndex.File, facts: PhotoFacts)] = []
        for picture in pictures ?? [] where picture.file.facts == nil {
            guard !state.withLock(\.isOver) else { return [] }
            guard let facts = await facts(of: picture, urgency) else { continue }
            found.append((picture.file, facts))
        }
        let noted = found
        guard !noted.isEmpty else { return [] }
        do {
            return try await database.writer.run { database in
                let index = PictureIndex(database)
                try database.transaction { () throws(StorageError) in
                    for (file, facts) in noted { try index.setFacts(facts, of: file) }
                }
                return try noted.filter { $0.facts != PhotoFacts() }
                    .compactMap { try index.picture($0.file.id) }.map { Photo($0) }
            }
        } catch {
            // What cannot be noted, for want of room, is not looked into again and again.
            state.withLock { $0.unreadable.formUnion(noted.map(\.file.id)) }
            return []
        }
    }

    /// What a file tells; nil if nobody knows, and it is to be tried again another time.
    private func facts(
        of picture: PictureIndex.Picture, _ urgency: ImageUrgency
    ) async -> PhotoFacts? {
        let path = root + [UInt8(ascii: "/")] + picture.path.bytes
        do {
            return PhotoFacts(try await images.probe(path, urgency: urgency))
        } catch {
            switch error {
            case .damaged: return PhotoFacts()
            case .notSupported: stop()
            // Another time it may not take that long.
            case .notReadable, .storageFull, .failed, .tooLarge:
                state.withLock { _ = $0.unreadable.insert(picture.file.id) }
            }
            return nil
        }
    }

    private func wake(_ rows: [Int64]) {
        let waiters = state.withLock { state in
            rows.flatMap { state.waiters.removeValue(forKey: $0) ?? [] }
        }
        for waiter in waiters { waiter.resume() }
    }
}
