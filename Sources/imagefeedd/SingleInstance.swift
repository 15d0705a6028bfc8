internal import BusService
internal import Configuration
internal import DBus
internal import Glibc
internal import Logging
internal import ProviderKit
internal import Storage
internal import System

/// Ensures that one daemon runs per data folder and one per session bus.
///
/// The data folder is locked before anything in it is read, and before the bus name is requested: if the daemon cannot
/// run, the bus reports an error to the client whose call started it.
final class SingleInstance {
    /// The reason why the daemon cannot run.
    enum Refusal: Error, CustomStringConvertible {
        /// Another daemon owns the name on this bus.
        case running
        /// A daemon on another bus uses the data folder.
        case inUse(folder: String, processID: Int32?, host: String?)

        var description: String {
            switch self {
            case .running: "another imagefeedd is running; start with --replace to replace it"
            case .inUse(let folder, let processID, let host):
                "the data folder \(folder) is in use by another imagefeedd"
                    + (processID.map { " (process \($0))" } ?? "")
                    + (host.map { " (on \($0))" } ?? "")
            }
        }
    }

    /// The time in which the kernel releases the locks of a killed process.
    private static let releaseTime = Duration.milliseconds(300)
    /// The time in which a replaced daemon exits; see ``CurrentProcess/startExitDeadline()``.
    private static let replacementTime = Duration.seconds(5)
    private static let interval = Duration.milliseconds(5)

    private let connection: BusConnection
    private let isReplacing: Bool
    private let logger: Logger
    /// The lock of the data folder.
    let data: FolderLock
    private var cache: FolderLock?

    /// - Parameters:
    ///   - connection: The connection to the session bus.
    ///   - folders: The folders of the user.
    ///   - isReplacing: True if a daemon on this bus is to be replaced.
    ///   - logger: Receives the reason why a folder cannot be locked.
    init(_ connection: BusConnection, _ folders: UserFolders, isReplacing: Bool, logger: Logger) {
        self.connection = connection
        self.isReplacing = isReplacing
        self.logger = logger
        data = FolderLock(folder: folders.data)
    }

    /// Locks the data folder.
    ///
    /// - Parameter onLost: Called when another daemon takes over the bus name.
    /// - Throws: ``Refusal``; `BusError`.
    func lockData(onLost: @escaping () -> Void) async throws {
        if isReplacing, let owner = try await connection.owner(of: BusExporter.name) {
            // A holder that does not own the name does not end when the name is taken over.
            if case .inUse(let id?, _) = data.attempt(),
                try await connection.processID(of: owner) != id
            {
                try await waitForData(Self.replacementTime)
            }
            try await ownName(onLost: onLost)
            try await waitForData(Self.replacementTime)
        } else {
            if case .inUse = data.attempt(), !isReplacing,
                try await connection.owner(of: BusExporter.name) != nil
            {
                throw Refusal.running
            }
            try await waitForData(isReplacing ? Self.replacementTime : Self.releaseTime)
        }
    }

    /// Requests the bus name.
    ///
    /// - Parameter onLost: Called when another daemon takes over the name.
    /// - Throws: ``Refusal/running``; `BusError`.
    func ownName(onLost: @escaping () -> Void) async throws {
        let isOwned = try await connection.requestName(
            BusExporter.name, replacing: isReplacing, onLost: onLost)
        guard isOwned else { throw Refusal.running }
    }

    /// Locks the cache folder.
    ///
    /// Two daemons with different data folders can have the same `XDG_CACHE_HOME`. The cache files must have one
    /// writer, so the second daemon uses a separate folder, named after its data folder.
    ///
    /// - Parameter folder: The cache folder.
    /// - Returns: The folder to use.
    /// - Throws: `CancellationError`.
    func lockCache(_ folder: String) async throws -> String {
        let lock = FolderLock(folder: folder)
        cache = lock
        // A daemon that is being replaced unlocks its data first.
        let limit = isReplacing ? Self.replacementTime : Self.releaseTime
        let attempt = try await wait(for: lock, limit)
        let hash = StableHash(of: data.folder.utf8).value.hexDigits
        let own = FolderLock(folder: "\(folder)-\(hash)")
        guard case .inUse = attempt else {
            // Its data would remain after a logout.
            if attempt == .held, access(own.folder, F_OK) == 0, own.attempt() == .held {
                Self.delete(own.folder)
            }
            return folder
        }
        cache = own
        _ = own.attempt()
        logger.notice(
            "Another daemon uses the cache folder",
            metadata: ["path": "\(folder)", "used": "\(own.folder)"])
        return own.folder
    }

    /// Deletes a file, or a folder with its contents. Links are not followed.
    private static func delete(_ path: String) {
        guard unlink(path) != 0, errno == EISDIR else { return }
        for name in (try? DirectoryListing(path))?.names ?? [] { delete("\(path)/\(name)") }
        rmdir(path)
    }

    /// Unlocks the folders. All files in them must be closed.
    func release() {
        cache?.release()
        data.release()
    }

    private func waitForData(_ limit: Duration) async throws {
        switch try await wait(for: data, limit) {
        case .held: return
        case .inUse(let processID, let host):
            throw Refusal.inUse(folder: data.folder, processID: processID, host: host)
        case .unavailable(let error):
            logger.warning("The data folder cannot be locked", metadata: ["reason": "\(error)"])
        }
    }

    private func wait(for lock: FolderLock, _ limit: Duration) async throws -> FolderLock.Attempt {
        let deadline = ContinuousClock.now + limit
        var isFirst = true
        while true {
            let attempt = lock.attempt()
            guard case .inUse = attempt, ContinuousClock.now < deadline else { return attempt }
            if isFirst, lock === data { logger.info("Waiting for the data folder") }
            isFirst = false
            try await MainLoopClock().sleep(for: Self.interval)
        }
    }
}
