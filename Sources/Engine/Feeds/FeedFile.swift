internal import Glibc
internal import Logging
internal import Storage
internal import Synchronization

/// The file of ``FeedStore``, and what is done when it is gone, damaged or out of reach.
nonisolated final class FeedFile: Sendable {
    /// How long what cannot be written is left alone.
    private static let pause = Duration.seconds(60)

    private let folder: String
    private let path: String
    private let migrations: [String]
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        /// Of the file that is open; nil for none.
        var identity: Identity?
        /// When there could be no file; nil as long as there can.
        var failed: SuspendingClock.Instant?
        var wasToldOfFailure = false
        /// Counts what was opened.
        var generation = 0
    }

    private struct Identity: Equatable {
        let device: UInt
        let number: UInt
    }

    init(folder: String, migrations: [String], logger: Logger) {
        self.folder = folder
        path = "\(folder)/feeds.sqlite"
        self.migrations = migrations
        self.logger = logger
    }

    /// Whether it is the file that is used, and not memory in its place.
    var isOpen: Bool { state.withLock { $0.identity != nil } }

    /// Whether what is open is no longer what should be: the file was deleted, or there may be one again.
    var isOutdated: Bool {
        state.withLock { state in
            if let failed = state.failed {
                guard SuspendingClock.now >= failed + Self.pause else { return false }
                // What memory has is not given up before there can be a file.
                let isWritable = access(folder, W_OK) == 0
                if !isWritable { state.failed = .now }
                return isWritable
            }
            return state.identity != nil && state.identity != identity
        }
    }

    /// Tells what is open now from what was open before.
    var generation: Int { state.withLock { $0.generation } }

    private var identity: Identity? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Identity(device: UInt(status.st_dev), number: UInt(status.st_ino))
    }

    /// Opens the file; a database in memory where there can be none.
    ///
    /// - Throws: ``StorageError``.
    func open() throws -> Database {
        let failed = state.withLock { state in
            state.generation += 1
            return state.failed
        }
        if let failed, SuspendingClock.now < failed + Self.pause { return try openInMemory() }
        do {
            let database = try openFile()
            state.withLock { state in
                state.identity = identity
                state.failed = nil
                state.wasToldOfFailure = false
            }
            return database
        } catch {
            giveUp("\(error)")
            return try openInMemory()
        }
    }

    private func openFile() throws -> Database {
        try PrivateFolder.create(folder)
        do {
            return try openDatabase(path)
        } catch let error where error.isAboutContents {
            setAside(error, generation)
            return try openDatabase(path)
        }
    }

    private func openDatabase(_ path: String) throws(StorageError) -> Database {
        let database = try Database(path: path, durability: .process, cacheKibibytes: 64)
        try database.migrate(migrations)
        return database
    }

    /// A database with what can still be read of the file.
    private func openInMemory() throws(StorageError) -> Database {
        let database = try Database(path: ":memory:", durability: .process)
        do throws(StorageError) {
            try database.copy(from: path)
            try database.migrate(migrations)
            return database
        } catch {
            return try openDatabase(":memory:")
        }
    }

    /// Takes note that the file cannot be written, for a while.
    func giveUp(_ reason: String) {
        let isNews = state.withLock { state in
            defer {
                state.failed = .now
                state.identity = nil
                state.wasToldOfFailure = true
            }
            return !state.wasToldOfFailure
        }
        guard isNews else { return }
        logger.warning(
            "The cache of feeds is kept in memory",
            metadata: ["path": "\(path)", "reason": "\(reason)"])
    }

    /// Gives the file another name, if what failed was this one and not an earlier one; what was set aside
    /// before it goes.
    func setAside(_ error: StorageError, _ generation: Int) {
        guard generation == self.generation else { return }
        logger.warning(
            "The cache of feeds is set aside and begun anew",
            metadata: ["path": "\(path)", "reason": "\(error)"])
        for suffix in ["", "-wal", "-shm"] {
            rename(path + suffix, "\(path).damaged\(suffix)")
        }
    }
}

nonisolated extension StorageError {
    /// Whether the file itself is at fault, so that another one helps. Tables that are not there are a fault
    /// of the file, too.
    var isAboutContents: Bool {
        switch self {
        case .damaged, .newerVersion: true
        case .failed(let code, _): code == 1
        default: false
        }
    }
}
