internal import Glibc
internal import Logging
internal import Storage
internal import Synchronization
internal import System

/// The file of ``FeedStore``. It is replaced if it is deleted or damaged, and by a database in memory if it cannot be
/// written.
nonisolated final class FeedFile: Sendable {
    /// The pause before the next attempt to open a file that could not be written.
    private static let pause = Duration.seconds(60)

    private let folder: String
    private let path: String
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        /// The identity of the open file; nil if none is open.
        var identity: FileIdentity?
        /// The time of the last failure to open or write the file; nil if there was none.
        var failed: SuspendingClock.Instant?
    }

    init(folder: String, logger: Logger) {
        self.folder = folder
        path = "\(folder)/feeds.sqlite"
        self.logger = logger
    }

    /// True if the file is used, and not a database in memory.
    var isOpen: Bool { state.withLock { $0.identity != nil } }

    /// True if another database must be opened: the file was deleted, or it may be writable again.
    var isOutdated: Bool {
        state.withLock { state in
            if let failed = state.failed {
                guard SuspendingClock.now >= failed + Self.pause else { return false }
                // The database in memory stays until a file can be written.
                let isWritable = access(folder, W_OK) == 0
                if !isWritable { state.failed = .now }
                return isWritable
            }
            return state.identity != nil && state.identity != identity
        }
    }

    private var identity: FileIdentity? { FileStatus(path)?.identity }

    /// Opens the file, or a database in memory if that fails.
    ///
    /// - Throws: ``StorageError``.
    func open() throws -> Database {
        if let failed = state.withLock(\.failed), SuspendingClock.now < failed + Self.pause {
            return try openInMemory()
        }
        do {
            let database = try openFile()
            state.withLock { state in
                state.identity = identity
                state.failed = nil
            }
            return database
        } catch {
            recordFailure("\(error)")
            return try openInMemory()
        }
    }

    private func openFile() throws -> Database {
        try PrivateFolder.create(folder)
        do {
            return try openDatabase(path)
        } catch let error where error.isAboutContents {
            renameDamagedFile(error)
            return try openDatabase(path)
        }
    }

    private func openDatabase(_ path: String) throws(StorageError) -> Database {
        let database = try Database(path: path, durability: .process, cacheKibibytes: 64)
        try FeedStore.migrate(database)
        return database
    }

    /// Opens a database in memory with the contents of the file, if they can be read.
    private func openInMemory() throws(StorageError) -> Database {
        let database = try Database(path: ":memory:", durability: .process)
        do throws(StorageError) {
            try database.copy(from: path)
            try FeedStore.migrate(database)
            return database
        } catch {
            return try openDatabase(":memory:")
        }
    }

    /// Returns the action after which another database can be opened, if that helps against an error. The open one has
    /// to be closed before the action.
    func repair(_ error: StorageError) -> (() -> Void)? {
        if error.isAboutContents { return { self.renameDamagedFile(error) } }
        switch error {
        // The disk is read-only, or the folder belongs to another user.
        case .cannotOpen, .readOnly: return { self.recordFailure("\(error)") }
        default: return nil
        }
    }

    /// Records that the file cannot be written. It is opened again after a pause.
    private func recordFailure(_ reason: String) {
        let isFirst = state.withLock { state in
            defer {
                state.failed = .now
                state.identity = nil
            }
            return state.failed == nil
        }
        guard isFirst else { return }
        logger.warning(
            "The feed cache cannot be written and is kept in memory",
            metadata: ["path": "\(path)", "reason": "\(reason)"])
    }

    /// Renames the file. A file that was renamed before is replaced.
    private func renameDamagedFile(_ error: StorageError) {
        logger.warning(
            "The feed cache cannot be used and is replaced",
            metadata: ["path": "\(path)", "reason": "\(error)"])
        for suffix in ["", "-wal", "-shm"] {
            rename(path + suffix, "\(path).damaged\(suffix)")
        }
    }
}

nonisolated extension StorageError {
    /// True if the contents of the file cause the error, so that a new file helps. Missing tables count, too.
    var isAboutContents: Bool {
        switch self {
        case .damaged, .newerVersion: true
        case .failed(let code, _): code == 1
        default: false
        }
    }
}
