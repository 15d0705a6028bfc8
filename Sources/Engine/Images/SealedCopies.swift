internal import Accounts
internal import CLinux
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

    /// A state of a file. Each write to the file changes it.
    private struct Version: Hashable {
        let device: UInt
        let inode: UInt
        let bytes: Int
        let times: [Int]

        /// Reads the state of a file; nil, with `errno`, if there is none.
        ///
        /// - Parameters:
        ///   - file: The file, open for reading.
        ///   - isComplete: True if the file is never written again, so that other changes of it do not matter.
        init?(_ file: Int32, isComplete: Bool) {
            var status = stat()
            guard fstat(file, &status) == 0 else { return nil }
            device = UInt(status.st_dev)
            inode = UInt(status.st_ino)
            bytes = Int(status.st_size)
            // Remains 0 if it is unknown.
            var birth = 0
            if isComplete { shim_get_birth_time(file, &birth) }
            // The inode number of a deleted file is reused for other files.
            times =
                birth != 0
                ? [birth]
                : [
                    status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                    status.st_ctim.tv_nsec,
                ]
        }
    }

    private struct Copy {
        /// The daemon's descriptor, open for reading.
        let descriptor: Int32
        let version: Version
        let client: String
    }

    private struct State {
        var copies: [Copy] = []
        /// The copies that are being created, by client.
        var pending: [(client: String, bytes: Int)] = []

        func exceeds(_ limits: Limits, with bytes: Int, of client: String) -> Bool {
            let all = copies.map { ($0.client, $0.version.bytes) } + pending.map { ($0, $1) }
            let own = all.filter { $0.0 == client }
            return all.count >= limits.count.all || own.count >= limits.count.client
                || all.reduce(bytes) { $0 + $1.1 } > limits.bytes.all
                || own.reduce(bytes) { $0 + $1.1 } > limits.bytes.client
        }
    }

    private let limits: Limits
    private let state = Mutex(State())

    /// - Parameter limits: The limits of the copies that clients may have open.
    init(_ limits: Limits = Limits()) { self.limits = limits }

    deinit { state.withLock { for copy in $0.copies { close(copy.descriptor) } } }

    /// Returns a descriptor of a copy, open for reading. May block on a disk.
    ///
    /// - Parameters:
    ///   - source: A regular file, open for reading. It is closed.
    ///   - isComplete: True if the file is never written again.
    ///   - client: The client that calls.
    /// - Returns: The descriptor.
    /// - Throws: ``EngineError``, ``ProviderError``.
    func copy(of source: Int32, isComplete: Bool, for client: String) throws -> Int32 {
        defer { close(source) }
        guard let version = Version(source, isComplete: isComplete) else {
            throw Self.failure("read", errno)
        }
        guard version.bytes <= SealedImages.maximumImageBytes else {
            throw EngineError.tooLarge(
                "The image is larger than \(SealedImages.maximumImageBytes >> 20) MiB; use GetImage."
            )
        }
        if let known = find(version) { return known }
        try reserve(version.bytes, for: client)
        defer { release(version.bytes, of: client) }
        let writable = shim_memfd("imagefeed-image")
        guard writable >= 0 else { throw Self.failure("copied", errno) }
        defer { close(writable) }
        try Self.fill(writable, from: source, version.bytes)
        guard isComplete || Version(source, isComplete: false) == version else {
            throw ProviderError.failed(
                Message(verbatim: "The image changed while it was being read; try again."))
        }
        guard shim_seal(writable) == 0 else { throw Self.failure("copied", errno) }
        guard let kept = Self.reopen(writable) else { throw Self.failure("copied", errno) }
        guard let handedOut = Self.reopen(kept) else {
            let code = errno
            close(kept)
            throw Self.failure("copied", code)
        }
        state.withLock {
            $0.copies.append(Copy(descriptor: kept, version: version, client: client))
        }
        return handedOut
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

    private func find(_ version: Version) -> Int32? {
        state.withLock { state in
            guard let index = state.copies.firstIndex(where: { $0.version == version }) else {
                return nil
            }
            if let descriptor = Self.reopen(state.copies[index].descriptor) { return descriptor }
            // A client removed the permissions of the copy. Other clients get a new copy.
            close(state.copies.remove(at: index).descriptor)
            return nil
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
            // A write lease is granted only if the file is open nowhere else.
            guard shim_is_open_elsewhere(copy.descriptor) == 0 else { return false }
            close(copy.descriptor)
            return true
        }
    }

    /// Opens a memfd again, with an independent file position.
    private static func reopen(_ descriptor: Int32) -> Int32? {
        let reopened = open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC)
        return reopened >= 0 ? reopened : nil
    }

    private static func fill(_ destination: Int32, from source: Int32, _ bytes: Int) throws {
        var offset = 0
        while offset < bytes {
            let count = sendfile(destination, source, &offset, bytes - offset)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", errno) }
            guard count > 0 else {
                throw ProviderError.failed(
                    Message(verbatim: "The image changed while it was being read; try again."))
            }
        }
    }

    private static func failure(_ action: String, _ code: Int32) -> ProviderError {
        .failed(
            Message(
                verbatim: "The image cannot be \(action): \(String(cString: strerror(code)))."))
    }
}
