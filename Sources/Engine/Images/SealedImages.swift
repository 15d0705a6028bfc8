internal import CLinux
internal import Dispatch
internal import EngineModel
internal import Glibc
internal import ProviderKit
internal import Synchronization
internal import System
internal import Translation

/// Copies of image files in memory that no process can modify, for clients.
///
/// A client of the same user can open a descriptor again for writing through `/proc/self/fd`, even if it was opened
/// read-only. The seals of a memfd also prevent that. The memory is charged to the daemon for as long as a client has the image open, so its
/// amount is limited.
///
/// Source: memfd_create(2); fcntl(2), "File Sealing".
package final class SealedImages {
    /// The largest image.
    private nonisolated static let maximumImageBytes = 64 << 20
    /// The time after which a call fails because the file cannot be read.
    private static let timeout = Duration.seconds(20)
    /// The first interval between two checks for copies that no client has open.
    private static let shortestPause = Duration.seconds(15)
    private static let longestPause = Duration.seconds(3600)

    /// The largest amount of memory and the largest number of copies that clients may have open, each of all clients and
    /// of one client.
    package typealias Limits = (bytes: (all: Int, client: Int), count: (all: Int, client: Int))

    /// A copy that a client may have open.
    nonisolated private struct Copy {
        /// The daemon's descriptor, open for reading; nil while the copy is being created.
        let descriptor: Int32?
        let bytes: Int
        let client: String
    }

    private let clock: any Clock<Duration>
    private nonisolated let limits: Limits
    /// The queues on which files are read. There are several, because a disk may hang.
    private let lanes = (1...4).map { DispatchQueue(label: "sealed-images-\($0)") }
    /// The calls in progress: the index of the lane, and the client.
    private var pending: [(lane: Int, client: String)] = []
    private nonisolated let copies = Mutex<[Copy]>([])
    private var sweep: (task: Task<Void, Never>, pause: Duration)?

    /// - Parameters:
    ///   - clock: Measures pauses and timeouts.
    ///   - limits: The limits of the copies that clients may have open.
    package init(
        clock: any Clock<Duration>,
        limits: Limits = (
            bytes: (all: 256 << 20, client: 128 << 20), count: (all: 512, client: 256)
        )
    ) {
        self.clock = clock
        self.limits = limits
    }

    deinit {
        copies.withLock { for case let descriptor? in $0.map(\.descriptor) { close(descriptor) } }
    }

    /// The number of copies.
    var count: Int { copies.withLock { $0.count { $0.descriptor != nil } } }

    /// Returns a descriptor of a copy that cannot be modified. The caller closes it.
    ///
    /// - Parameters:
    ///   - source: A regular file, open for reading. It is closed.
    ///   - isComplete: True if the file is never written again, only replaced or deleted.
    ///   - client: The client that calls.
    /// - Returns: The descriptor, open for reading.
    /// - Throws: ``EngineError/tooLarge(_:)``, ``EngineError/tooManyImages``,
    ///   ``ProviderError/failed(_:)`` if the file cannot be read.
    package func copy(
        of source: Int32, isComplete: Bool = false, for client: String
    ) async throws -> Int32 {
        // The limit is checked first because each call has an open file.
        guard pending.count < limits.count.all,
            pending.count(where: { $0.client == client }) < limits.count.client
        else {
            close(source)
            throw EngineError.tooManyImages
        }
        let counts = lanes.indices.map { lane in pending.count { $0.lane == lane } }
        let lane = lanes.indices.min { counts[$0] < counts[$1] } ?? 0
        pending.append((lane, client))
        let outcome = OneShotResult<Int32, any Error>()
        let limit = clock.after(Self.timeout) {
            outcome.complete(
                .failure(
                    ProviderError.failed(
                        Message(verbatim: "The file could not be read in time; try again.")))
            )
        }
        lanes[lane].async { [self] in
            let result = Result { try makeCopy(of: source, isComplete: isComplete, for: client) }
            DispatchQueue.main.async {
                MainActor.assumeIsolated {
                    if let index = self.pending.firstIndex(where: { $0 == (lane, client) }) {
                        self.pending.remove(at: index)
                    }
                    if !outcome.complete(result), case .success(let late) = result { close(late) }
                }
            }
        }
        defer {
            limit.cancel()
            scheduleSweep(after: Self.shortestPause)
        }
        return try await outcome.value()
    }

    /// Closes the copies that no client has open, now and at increasing intervals, until there are none.
    private func scheduleSweep(after pause: Duration) {
        if let sweep {
            guard sweep.pause > pause else { return }
            sweep.task.cancel()
        }
        let task = clock.after(pause) { [weak self] in
            guard let self else { return }
            sweep = nil
            copies.withLock { Self.sweep(&$0) }
            if count > 0 { scheduleSweep(after: min(pause * 2, Self.longestPause)) }
        }
        sweep = (task, pause)
    }
}

// The work on the lanes, which may block on a disk.
nonisolated extension SealedImages {
    /// Performs ``copy(of:isComplete:for:)``.
    private func makeCopy(of source: Int32, isComplete: Bool, for client: String) throws -> Int32 {
        defer { close(source) }
        let before = try Self.status(source)
        let bytes = Int(before.st_size)
        guard bytes <= Self.maximumImageBytes else {
            throw EngineError.tooLarge(
                "The image is larger than \(Self.maximumImageBytes >> 20) MiB; use GetImage.")
        }
        try reserve(bytes, for: client)
        defer { release(bytes, of: client) }
        let writable = shim_memfd("imagefeed-image")
        guard writable >= 0 else { throw Self.failure("copied", errno) }
        defer { close(writable) }
        try Self.fill(writable, from: source, bytes)
        let after = try Self.status(source)
        guard
            isComplete
                || after.st_size == before.st_size
                    && after.st_mtim.tv_sec == before.st_mtim.tv_sec
                    && after.st_mtim.tv_nsec == before.st_mtim.tv_nsec
        else { throw Self.changed }
        guard shim_seal(writable) == 0 else { throw Self.failure("copied", errno) }
        // The daemon's descriptor shows whether a client has the copy open.
        let descriptors = (0..<2).map { _ in
            open("/proc/self/fd/\(writable)", O_RDONLY | O_CLOEXEC)
        }
        guard descriptors.allSatisfy({ $0 >= 0 }) else {
            let code = errno
            for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
            throw Self.failure("copied", code)
        }
        copies.withLock {
            $0.append(Copy(descriptor: descriptors[0], bytes: bytes, client: client))
        }
        return descriptors[1]
    }

    private static func status(_ file: Int32) throws -> stat {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure("read", errno) }
        return status
    }

    private func reserve(_ bytes: Int, for client: String) throws(EngineError) {
        let isReserved = copies.withLock { copies in
            Self.sweep(&copies)
            let own = copies.filter { $0.client == client }
            guard copies.count < limits.count.all, own.count < limits.count.client,
                copies.reduce(bytes, { $0 + $1.bytes }) <= limits.bytes.all,
                own.reduce(bytes, { $0 + $1.bytes }) <= limits.bytes.client
            else { return false }
            copies.append(Copy(descriptor: nil, bytes: bytes, client: client))
            return true
        }
        guard isReserved else { throw .tooManyImages }
    }

    private func release(_ bytes: Int, of client: String) {
        copies.withLock { copies in
            let index = copies.firstIndex {
                $0.descriptor == nil && $0.bytes == bytes && $0.client == client
            }
            if let index { copies.remove(at: index) }
        }
    }

    /// Closes the copies that no client has open.
    private static func sweep(_ copies: inout [Copy]) {
        copies.removeAll { copy in
            // A write lease is granted only if the file is open nowhere else. Source: fcntl(2), `F_SETLEASE`.
            guard let descriptor = copy.descriptor, fcntl(descriptor, 1024, F_WRLCK) == 0 else {
                return false
            }
            close(descriptor)
            return true
        }
    }

    private static func fill(_ destination: Int32, from source: Int32, _ bytes: Int) throws {
        var offset = 0
        while offset < bytes {
            let count = sendfile(destination, source, &offset, bytes - offset)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", errno) }
            guard count > 0 else { throw changed }
        }
    }

    private static let changed = ProviderError.failed(
        Message(verbatim: "The image changed while it was being read; try again."))

    private static func failure(_ action: String, _ code: Int32) -> ProviderError {
        .failed(
            Message(
                verbatim: "The image cannot be \(action): \(String(cString: strerror(code)))."))
    }
}
