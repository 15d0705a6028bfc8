internal import CLinux
internal import EngineModel
internal import Glibc
internal import ProviderKit
internal import Synchronization
internal import Translation

/// The sealed copies that clients may have open, see ``SealedImages``.
nonisolated package final class SealedCopies: Sendable {
    /// The limits of the copies that clients may have open.
    package struct Limits: Sendable {
        /// The largest amount of memory, of all clients and of one client.
        var bytes = (all: 256 << 20, client: 128 << 20)
        /// The largest number of copies, of all clients and of one client.
        var count = (all: 512, client: 256)
    }

    private struct Copy {
        /// The daemon's descriptor, open for reading.
        let descriptor: Int32
        let bytes: Int
        let client: String
    }

    private struct State {
        var copies: [Copy] = []
        /// The copies that are being created, by client.
        var pending: [(client: String, bytes: Int)] = []

        func exceeds(_ limits: Limits, with bytes: Int, of client: String) -> Bool {
            let all = copies.map { ($0.client, $0.bytes) } + pending.map { ($0, $1) }
            let own = all.filter { $0.0 == client }
            return all.count >= limits.count.all || own.count >= limits.count.client
                || all.reduce(bytes) { $0 + $1.1 } > limits.bytes.all
                || own.reduce(bytes) { $0 + $1.1 } > limits.bytes.client
        }
    }

    let limits: Limits
    private let state = Mutex(State())

    /// - Parameter limits: The limits of the copies that clients may have open.
    init(_ limits: Limits = Limits()) { self.limits = limits }

    deinit { state.withLock { for copy in $0.copies { close(copy.descriptor) } } }

    /// Returns a descriptor of a new copy, open for reading. May block on a disk.
    ///
    /// - Parameters:
    ///   - source: A regular file, open for reading. It is closed.
    ///   - isComplete: True if the file is never written again, so that other changes of it do not matter.
    ///   - client: The client that calls.
    /// - Returns: The descriptor.
    /// - Throws: ``EngineError``, ``ProviderError``.
    func copy(of source: Int32, isComplete: Bool, for client: String) throws -> Int32 {
        defer { close(source) }
        let before = try Self.status(source)
        let bytes = Int(before.st_size)
        guard bytes <= SealedImages.maximumImageBytes else {
            throw EngineError.tooLarge(
                "The image is larger than \(SealedImages.maximumImageBytes >> 20) MiB; use GetImage."
            )
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
        state.withLock {
            $0.copies.append(Copy(descriptor: descriptors[0], bytes: bytes, client: client))
        }
        return descriptors[1]
    }

    private static func status(_ file: Int32) throws -> stat {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure("read", errno) }
        return status
    }

    /// The number of copies.
    var count: Int { state.withLock { $0.copies.count } }

    /// Closes the copies that no client has open.
    ///
    /// - Returns: The number of copies that remain.
    @discardableResult
    func sweep() -> Int {
        state.withLock { state in
            Self.sweep(&state)
            return state.copies.count
        }
    }

    private func reserve(_ bytes: Int, for client: String) throws(EngineError) {
        let isReserved = state.withLock { state in
            Self.sweep(&state)
            guard !state.exceeds(limits, with: bytes, of: client) else { return false }
            state.pending.append((client, bytes))
            return true
        }
        guard isReserved else { throw .tooManyImages }
    }

    private func release(_ bytes: Int, of client: String) {
        state.withLock { state in
            if let index = state.pending.firstIndex(where: { $0 == (client, bytes) }) {
                state.pending.remove(at: index)
            }
        }
    }

    private static func sweep(_ state: inout State) {
        state.copies.removeAll { copy in
            // A write lease is granted only if the file is open nowhere else. Source: fcntl(2), `F_SETLEASE`.
            guard fcntl(copy.descriptor, 1024, F_WRLCK) == 0 else { return false }
            close(copy.descriptor)
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
