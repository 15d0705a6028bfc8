internal import Dispatch
internal import Glibc
package import Logging
internal import Synchronization
internal import System
package import Translation

/// A database file with its own serial queue: tasks run one at a time, in the order of the calls.
///
/// The file is opened, checked and repaired on the queue, by the first task and after a failure. Tasks always have a
/// database: one in memory while the file cannot be used.
package final class Store: Sendable {
    /// The handling of the file.
    package enum Policy: Sendable {
        /// The contents cannot be fetched again. Each commit is on the disk. A damaged file is kept, and what can be
        /// read of it is copied into a new one. A file that cannot be written is read, and each write tries again.
        /// A file whose contents earlier tasks have not read is never used.
        case durable
        /// The contents can be created again. A file that cannot be used is deleted. While the disk is full or there can
        /// be no file, the contents are in memory.
        case disposable
    }

    private struct State {
        /// The messages about files that were set aside, by their paths.
        var copies: [(path: String, message: Message)] = []
        /// The reason why the file cannot be used or written; nil if it can.
        var problem: StorageError?
        /// The time of the last failure to use the file; nil if it is used.
        var failed: SuspendingClock.Instant?
        /// The identity of the file that readers use; nil if they wait for the queue.
        var shared: FileIdentity?
    }

    /// The pause before the next attempt to use a disposable file.
    private static let pause = Duration.seconds(60)
    /// The size of the largest disposable file that is read into memory.
    private static let maximumBytes = 32 << 20

    /// The path of the file, or `:memory:`.
    package let path: String
    private let policy: Policy
    private let formats: [TableFormat]
    private let lock: FolderLock?
    private let cacheKibibytes: Int
    private let logger: Logger
    private let onNotices: @Sendable () -> Void
    private let onReplaced: @Sendable () -> Void
    private let queue: DispatchQueue
    /// The queue of a second connection that reads; nil if there is none.
    private let readers: DispatchQueue?
    // Accessed only on `queue`.
    nonisolated(unsafe) private var database: Database?
    // Accessed only on `readers`.
    nonisolated(unsafe) private var reader: Database?
    /// The time at which deleted data are removed from the file; nil if there are none. Accessed only on `queue`.
    nonisolated(unsafe) private var scrubTime: SuspendingClock.Instant?
    /// The durable file whose contents the tasks have read or written; nil if there is none. Accessed only on `queue`.
    nonisolated(unsafe) private var known: FileIdentity?
    /// True after the first attempt to open a durable file. Accessed only on `queue`.
    nonisolated(unsafe) private var wasOpened = false
    /// True if another durable file than the known one is at the path. Accessed only on `queue`.
    nonisolated(unsafe) private var isReplaced = false
    private let state = Mutex(State())
    private let runs = Atomic(0)
    private let replacements = Atomic(0)

    /// The number of times that the contents of a disposable file were lost.
    package var replacementCount: Int { replacements.load(ordering: .relaxed) }

    /// The folder of the file.
    package var folder: String { StoreFile(path).folder }

    /// The number of tasks so far, for measurements.
    package var runCount: Int { runs.load(ordering: .relaxed) }

    /// The sentences for the user about the file: that it was set aside, or why it cannot be written.
    package var notices: [Message] {
        state.withLock { state in
            guard policy == .durable else { return [] }
            return state.copies.map(\.message) + (state.problem.map { [$0.message] } ?? [])
        }
    }

    /// The reason why a durable file cannot be used or written; nil if it can, or before the first task.
    package var writeError: StorageError? { state.withLock(\.problem) }

    /// - Parameters:
    ///   - path: The path of the file, whose folder is created if necessary; or `:memory:`.
    ///   - policy: The handling of the file.
    ///   - formats: The tables. They are copied from a damaged file in this order.
    ///   - lock: The lock of the folder. A folder that could not be locked because it is read-only is locked before
    ///     the file is opened.
    ///   - hasReader: True if ``read(_:)`` uses a connection of its own.
    ///   - cacheKibibytes: The size of the page cache.
    ///   - logger: Receives problems with the file.
    ///   - onNotices: Called when ``notices`` have changed.
    ///   - onReplaced: Called once when a task fails with ``StorageError/replaced(_:)``, as all later ones do.
    package init(
        _ path: String, _ policy: Policy, _ formats: [TableFormat], lock: FolderLock? = nil,
        hasReader: Bool = false, cacheKibibytes: Int = 256,
        logger: Logger = Logger(label: "imagefeed"),
        onNotices: @escaping @Sendable () -> Void = {},
        onReplaced: @escaping @Sendable () -> Void = {}
    ) {
        let name = String(path.split(separator: "/").last ?? "")
        self.path = path
        self.policy = policy
        self.formats = formats
        self.lock = lock
        self.cacheKibibytes = cacheKibibytes
        self.logger = logger
        self.onNotices = onNotices
        self.onReplaced = onReplaced
        queue = DispatchQueue(label: name)
        readers = hasReader ? DispatchQueue(label: "\(name)-reader") : nil
    }

    /// Creates a store in memory.
    package static func inMemory(_ formats: [TableFormat]) -> Store {
        Store(":memory:", .disposable, formats)
    }

    // MARK: Tasks

    /// Opens the file in the background, so that the first task need not wait for it.
    package func open() { queue.async { [self] in _ = try? opened() } }

    /// Runs `body` on the queue. It runs again if the file was damaged and its contents were copied into a new one.
    ///
    /// - Throws: The errors of `body`. ``StorageError/damaged(_:)`` after a disposable file was replaced by an empty
    ///   one; the next call uses that.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        runs.add(1, ordering: .relaxed)
        return try await queue.run { [self] () throws -> Value in try perform(body) }
    }

    /// Runs `body` on the queue and blocks the calling thread until `body` returns. Must not be called on the main
    /// thread or on this queue.
    ///
    /// - Throws: See ``run(_:)``.
    package func runAndWait<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try queue.sync { try perform(body) }
    }

    /// Runs `body`, which only reads, on one state of the database, beside the other tasks if there is a reader.
    ///
    /// - Throws: See ``run(_:)``.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        if let readers, let shared = try await sharedFile() {
            let result: Result<Value, any Error>? = await readers.run { [self] in
                if reader?.identity != shared || reader?.isMoved(from: path) == true {
                    reader = nil
                }
                do throws(StorageError) {
                    if reader == nil { reader = try Database(path: path) }
                } catch {
                    return nil
                }
                guard let reader, reader.identity == shared else { return nil }
                let result = Result { try reader.snapshot { try body(reader) } }
                if case .failure(let error as StorageError) = result,
                    error.isAboutContents || error.isAboutFile
                {
                    self.reader = nil
                    return nil
                }
                return result
            }
            if let result { return try result.get() }
        }
        // The file was replaced or is damaged, which the other connection finds, too.
        return try await run { database in try database.snapshot { try body(database) } }
    }

    /// Returns the identity of the file that readers may open; nil if there is none.
    private func sharedFile() async throws -> FileIdentity? {
        if let shared = state.withLock(\.shared) { return shared }
        try await run { _ in }
        return state.withLock(\.shared)
    }

    /// Releases cached memory, after the earlier tasks.
    package func releaseMemory() async {
        await queue.run { [self] () -> Void in database?.releaseMemory() }
        await readers?.run { [self] () -> Void in reader?.releaseMemory() }
    }

    /// Sets another size of the page cache, for many changes, or the normal one again for nil. Blocks.
    package func setCache(kibibytes: Int?) {
        queue.sync {
            try? database?.setCacheSize(kibibytes: kibibytes ?? cacheKibibytes)
            if kibibytes == nil { database?.releaseMemory() }
        }
    }

    /// Closes the file after the earlier tasks, unless the contents are in memory. The next task opens it again.
    package func closeFile() async {
        await queue.run { [self] () -> Void in
            if database?.identity != nil { closeAll() }
        }
    }

    /// Waits for the queued tasks and closes the file. Blocks; only for use at the end of a program.
    package func close() {
        queue.sync {
            // The file of the open database may have been deleted or replaced.
            if policy == .durable, let database, database.isMoved(from: path) {
                try? writeAgain(database)
            }
            closeAll()
        }
    }

    /// Removes all deleted data from the file and from what SQLite has created for it, and deletes the copies that were
    /// set aside and contain an ID. It is tried again after a failure, such as a full disk.
    ///
    /// - Parameter id: An ID that all data to be deleted belong to, such as that of an account; nil for none.
    package func scrub(copiesWith id: String? = nil) async {
        await queue.run { [self] () -> Void in
            if let id { deleteCopies(with: id) }
            scrubTime = .now
            if let database = try? opened() { scrubIfDue(database) }
        }
    }

    /// Deletes data, and removes them from a disposable file. If that fails, as on a full disk, the file is deleted with
    /// all its contents, which the next task learns.
    ///
    /// - Parameter body: Deletes the data.
    package func delete(_ body: @escaping @Sendable (Database) throws -> Void) async {
        await queue.run { [self] () -> Void in
            let isDeleted = (try? perform(body)) != nil
            // While the file cannot be written, the contents are in memory.
            guard path == ":memory:" || isDeleted && database?.identity != nil else {
                return StoreFile(path).delete()
            }
            scrubTime = .now
            if let database { scrubIfDue(database) }
        }
    }

    private func scrubIfDue(_ database: Database) {
        guard let scrubTime, scrubTime <= .now else { return }
        self.scrubTime = (try? database.scrub()) == nil ? .now + Self.pause : nil
    }

    private func deleteCopies(with id: String) {
        let deleted = StoreFile(path).copies.filter { StoreFile($0).contains(id) }
        for path in deleted { unlink(path) }
        change { state in
            state.copies.removeAll { deleted.contains($0.path) }
        }
    }

    private func perform<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let database = try opened()
        do {
            let changes = database.totalChanges
            let value = try body(database)
            if writeError != nil, database.totalChanges != changes { report(nil) }
            scrubIfDue(database)
            return value
        } catch let error as StorageError {
            guard try replaceDatabase(after: error) else {
                // Otherwise the reason was reported when the file was opened.
                if policy == .durable, error.isAboutFile, self.database?.writeError == nil {
                    report(error)
                }
                throw error
            }
            return try body(opened())
        }
    }

    /// Opens another database, if that helps against an error.
    ///
    /// - Returns: True if the task can be repeated.
    /// - Throws: ``StorageError/damaged(_:)`` if the contents are gone.
    private func replaceDatabase(after error: StorageError) throws(StorageError) -> Bool {
        guard path != ":memory:" else { return false }
        switch policy {
        case .durable:
            guard error.isAboutContents || database?.writeError != nil else { return false }
            // The disk may be writable again.
            closeAll()
            let reopened = try opened()
            return error.isAboutContents || reopened.writeError == nil
        case .disposable:
            if error.isAboutContents {
                reportReplacement(error)
                closeAll()
                StoreFile(path).delete()
            } else if error.isAboutFile, database?.identity != nil {
                closeAll()
                recordFailure(error)
            } else {
                return false
            }
            replacements.add(1, ordering: .relaxed)
            throw .damaged(path)
        }
    }

    // MARK: Opening

    private func opened() throws(StorageError) -> Database {
        guard !isReplaced else { throw .replaced(path) }
        if let database {
            switch policy {
            case .durable:
                guard database.isMoved(from: path) else { return database }
                do throws(StorageError) { try writeAgain(database) } catch {
                    report(error)
                    throw error
                }
                closeAll()
            case .disposable:
                if database.isMoved(from: path) {
                    closeAll()
                    replacements.add(1, ordering: .relaxed)
                    // The caller must know that the contents are gone.
                    throw .damaged(path)
                }
                // The contents in memory stay until then.
                guard isRetryDue, let file = openUsableFile() else { return database }
                replacements.add(1, ordering: .relaxed)
                self.database = file
                return file
            }
        }
        let opened = try policy == .durable ? openDurable() : openDisposable()
        database = opened
        return opened
    }

    private func closeAll() {
        // The journal of a file that was moved would be applied to the one at the path.
        if let database, scrubTime != nil, !database.isMoved(from: path) {
            scrubTime = .now
            scrubIfDue(database)
        }
        readers?.sync { reader = nil }
        database = nil
        state.withLock { $0.shared = nil }
    }

    /// Changes the state, and announces changed notices.
    private func change(_ body: (inout State) -> Void) {
        let before = notices
        state.withLock { body(&$0) }
        if notices != before { onNotices() }
    }

    // MARK: Durable files

    private func openDurable() throws(StorageError) -> Database {
        let file = StoreFile(path)
        do throws(StorageError) {
            if case .inUse = lock?.attempt() {
                throw .readOnly(path, "another imagefeedd uses it")
            }
            try createPrivateFolder(file.folder)
            let database = try openRepaired(file)
            adopt(database.identity)
            let problem = database.writeError
            report(problem)
            return database
        } catch {
            guard error != .replaced(path) else { throw error }
            let journal = file.unfinishedJournal
            let error = journal.map(error.withJournal) ?? error
            report(error)
            let database = try Database.inMemory(formats)
            let damaged = journal == nil ? DamagedDatabase(file, maximumBytes: 1 << 30) : nil
            if damaged != nil { try checkKnown(file) }
            _ = try damaged?.copy(to: database)
            adopt(damaged == nil ? nil : FileStatus(path)?.identity)
            try database.execute("PRAGMA query_only = ON")
            database.readOnlyError = error.ofWrite
            return database
        }
    }

    /// Records the file whose contents the tasks use.
    private func adopt(_ identity: FileIdentity?) {
        known = identity
        wasOpened = true
    }

    /// Reports and throws ``StorageError/replaced(_:)`` if earlier tasks have not used the contents of a readable file.
    private func checkKnown(_ file: StoreFile) throws(StorageError) {
        guard wasOpened, FileStatus(file.path)?.identity != known else { return }
        report(.replaced(path))
        throw .replaced(path)
    }

    private func report(_ problem: StorageError?) {
        if problem == .replaced(path) {
            isReplaced = true
            return onReplaced()
        }
        if let problem, problem != writeError {
            logger.warning(
                "Accounts and likes cannot be changed", metadata: ["reason": "\(problem)"])
        }
        change { $0.problem = problem }
    }

    private func openRepaired(_ file: StoreFile) throws(StorageError) -> Database {
        switch try file.state() {
        case .new: try file.take(writeNew(file, from: nil, nil).path)
        case .lost: try replace(file, .damaged(path), nil)
        case .present:
            do throws(StorageError) {
                let database = try openChecked(file)
                try checkKnown(file)
                return database
            } catch {
                guard error.isAboutContents else { throw error }
                try checkKnown(file)
                try replace(file, error, nil)
            }
        }
        return try openChecked(file)
    }

    /// Writes the contents of a deleted file, which are still readable through the open one, to its path.
    ///
    /// - Throws: ``StorageError/replaced(_:)`` if a whole file is there now, which stays as it is.
    private func writeAgain(_ database: Database) throws(StorageError) {
        let file = StoreFile(path)
        if case .inUse = lock?.attempt() { throw .replaced(path) }
        try createPrivateFolder(file.folder)
        switch try file.state() {
        case .new: try file.take(writeNew(file, from: nil, database).path)
        case .lost: try replace(file, .damaged(path), database)
        case .present:
            do throws(StorageError) {
                _ = try Database.inMemory(copyOf: file.path, formats)
                throw .replaced(path)
            } catch {
                guard error.isAboutContents else { throw .replaced(path) }
                try replace(file, error, database)
            }
        }
        known = FileStatus(path)?.identity
    }

    private func openChecked(_ file: StoreFile) throws(StorageError) -> Database {
        let database = try Database(
            path: file.path, isDurable: true, cacheKibibytes: cacheKibibytes)
        try database.verify()
        try database.prepare(formats)
        // A process that was killed while it copied a damaged file leaves a part of the new one.
        StoreFile("\(file.path).new").delete()
        database.releaseMemory()
        return database
    }

    /// Sets a file aside. The new one gets the contents of an earlier file, or what can be read of a damaged one.
    private func replace(
        _ file: StoreFile, _ error: StorageError, _ earlier: Database?
    ) throws(StorageError) {
        let message: Message
        var copy = ""
        var lost = 0
        if case .newerVersion = error {
            copy = try file.setAside("newer", for: writeNew(file, from: nil, earlier).path)
            message = Message(
                "{file} was written by a newer version of Image Feed; it was renamed to {copy}, and a new file was created.",
                ["file": file.path, "copy": copy])
        } else {
            let damaged =
                earlier == nil ? DamagedDatabase(file, maximumBytes: 1 << 30) : nil
            let new: String
            (new, lost) = try writeNew(file, from: damaged, earlier)
            // The file may be missing beside its journal.
            let suffix = access(file.path, F_OK) == 0 ? "" : "-journal"
            copy = try file.setAside("damaged", for: new) + suffix
            let names: KeyValuePairs = ["file": file.path + suffix, "copy": copy]
            message =
                earlier == nil
                ? Message(
                    "{file} was damaged; it was renamed to {copy}, and what could be read was taken over.",
                    names)
                : Message(
                    "{file} was damaged; it was renamed to {copy}, and the data in use were written to a new file.",
                    names)
        }
        logger.error(
            "\(message)", metadata: ["reason": "\(error)", "lost rows": "\(lost)"])
        change { $0.copies.append((copy, message)) }
    }

    /// Writes a file with the contents of an earlier one, or with the tables and the rows of a damaged one, beside the
    /// path.
    private func writeNew(
        _ file: StoreFile, from damaged: DamagedDatabase?, _ earlier: Database?
    ) throws(StorageError) -> (path: String, lost: Int) {
        let new = try file.replacement()
        do throws(StorageError) {
            if let earlier {
                try earlier.copy(to: new.path)
                try new.sync()
                return (new.path, 0)
            }
            let database = try Database(path: new.path, isDurable: true)
            try database.prepare(formats)
            let lost = try database.transaction { () throws(StorageError) in
                try damaged?.copy(to: database) ?? 0
            }
            return (new.path, lost)
        } catch {
            new.delete()
            throw error
        }
    }

    // MARK: Disposable files

    private func reportReplacement(_ error: StorageError) {
        logger.warning(
            "A file of the cache cannot be used and is created again",
            metadata: ["path": "\(path)", "reason": "\(error)"])
    }

    /// True if a file that could not be used may be usable again.
    private var isRetryDue: Bool {
        state.withLock { state in
            guard let failed = state.failed, SuspendingClock.now >= failed + Self.pause else {
                return false
            }
            let isWritable = access(StoreFile(path).folder, W_OK) == 0
            if !isWritable { state.failed = .now }
            return isWritable
        }
    }

    private func recordFailure(_ error: StorageError) {
        let isFirst = state.withLock { state in
            defer { state.failed = .now }
            return state.failed == nil
        }
        guard isFirst else { return }
        logger.warning(
            "A file of the cache cannot be written; its contents are kept in memory",
            metadata: ["path": "\(path)", "reason": "\(error)"])
    }

    private func openDisposable() throws(StorageError) -> Database {
        guard path != ":memory:" else { return try Database.inMemory(formats) }
        let failed = state.withLock(\.failed)
        if failed.map({ SuspendingClock.now >= $0 + Self.pause }) ?? true,
            let database = openUsableFile()
        {
            return database
        }
        let file = StoreFile(path)
        if file.hasLog, FileStatus(file.path)?.byteCount ?? 0 <= Self.maximumBytes,
            let database = try? Database.inMemory(copyOf: file.path, formats)
        {
            return database
        }
        let database = try Database.inMemory(formats)
        let damaged = DamagedDatabase(file, maximumBytes: Self.maximumBytes)
        _ = try? damaged?.copy(to: database)
        return database
    }

    /// Opens the file; returns nil and records the failure if that is not possible.
    private func openUsableFile() -> Database? {
        do throws(StorageError) {
            let database = try openFile()
            state.withLock { state in
                state.failed = nil
                state.shared = readers == nil ? nil : database.identity
            }
            return database
        } catch {
            recordFailure(error)
            return nil
        }
    }

    private func openFile() throws(StorageError) -> Database {
        let file = StoreFile(path)
        try createPrivateFolder(file.folder)
        do throws(StorageError) {
            if try file.state() == .present { return try openPrepared(file) }
        } catch  where error.isAboutContents || error.isAboutFile {
            // If the folder cannot be written, it is opened in vain again.
            reportReplacement(error)
        }
        file.delete()
        return try openPrepared(StoreFile(path))
    }

    private func openPrepared(_ file: StoreFile) throws(StorageError) -> Database {
        // The last process may have left another size than its contents need.
        unlink(file.path + "-shm")
        let database = try Database(
            path: file.path, cacheKibibytes: cacheKibibytes,
            isExclusive: readers == nil)
        try database.prepare(formats)
        // Otherwise new rows would fail as on a full disk.
        if try database.hasUsedAllNumbers() { throw .damaged(path) }
        // The connections of this process share it, and no other process can change it.
        unlink(file.path + "-shm")
        return database
    }
}
