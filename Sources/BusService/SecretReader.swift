internal import DBus
internal import Dispatch
internal import EngineCore
internal import EngineModel
internal import Glibc
internal import ProviderKit
internal import System

/// A reader of the secrets that clients pass as file descriptors.
///
/// The reads are concurrent, and none of them blocks the main thread.
final class SecretReader {
    /// The largest number of concurrent reads for all clients.
    nonisolated static let maximumCount = 64
    /// The largest number of concurrent reads for one client: one for each unfinished login.
    nonisolated static let maximumCountPerClient = 16

    private let clock: any Clock<Duration>
    private var clients: [BusName?: Int] = [:]

    /// - Parameter clock: The clock for the timeout.
    init(clock: any Clock<Duration> = MainLoopClock()) { self.clock = clock }

    /// Starts to read a secret. One line feed at its end is removed.
    ///
    /// - Parameters:
    ///   - descriptor: A pipe, a socket or a file. Its flags are not changed, because they are shared with the client.
    ///   - client: The unique name of the caller.
    /// - Returns: The read in progress. It is cancelled when the last reference is released.
    /// - Throws: An ``ErrorReply`` with the name `LimitsExceeded` or `InvalidArgs`.
    func begin(_ descriptor: FileDescriptor, for client: BusName?) throws -> SecretReading {
        guard clients.values.reduce(0, +) < Self.maximumCount,
            clients[client, default: 0] < Self.maximumCountPerClient
        else {
            throw ErrorReply(
                .limitsExceeded, "Too many secrets are being read; try again in a moment.")
        }
        clients[client, default: 0] += 1
        do {
            return try SecretReading(descriptor, clock) { [weak self] in self?.end(client) }
        } catch {
            end(client)
            throw error
        }
    }

    private func end(_ client: BusName?) {
        guard let count = clients[client] else { return }
        clients[client] = count > 1 ? count - 1 : nil
    }
}

/// One secret that is being read.
@MainActor
final class SecretReading {
    /// The largest size of a secret.
    nonisolated private static let limitBytes = 64 << 10
    /// The time limit for the client to write the secret.
    static let timeout = Duration.seconds(10)
    /// The largest number of files that are read at a time. A thread that waits for an unresponsive disk cannot be
    /// stopped.
    private static let maximumFileCount = 8
    private static var fileCount = 0

    private let onEnd: () -> Void
    private var source: DescriptorSource?
    private var deadline: Task<Void, Never>?
    /// The bytes read so far.
    private var bytes: SecretBytes?
    private let isSocket: Bool
    private let result = OneShotResult<Secret, any Error>()

    fileprivate init(
        _ descriptor: FileDescriptor, _ clock: any Clock<Duration>, onEnd: @escaping () -> Void
    ) throws {
        var status = stat()
        guard fstat(descriptor.rawValue, &status) == 0 else { throw Self.unreadable }
        let own: Int32
        let kind = status.st_mode & S_IFMT
        switch kind {
        case S_IFIFO:
            // The pipe is opened again, because O_NONBLOCK is a property of the open file description, which is shared
            // with the client.
            own = open("/proc/self/fd/\(descriptor.rawValue)", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        case S_IFSOCK, S_IFREG:
            own = fcntl(descriptor.rawValue, F_DUPFD_CLOEXEC, 0)
        default:
            throw EngineError.invalidArgument(
                "A secret must be passed as a pipe, a socket or a file.")
        }
        guard own >= 0 else { throw Self.unreadable }
        self.onEnd = onEnd
        isSocket = kind == S_IFSOCK
        bytes = SecretBytes(capacity: Self.limitBytes + 2)
        deadline = clock.after(Self.timeout) { [weak self] in
            self?.end(
                .failure(
                    EngineError.invalidArgument("The secret was not complete within 10 seconds."))
            )
        }
        if kind == S_IFREG {
            readFile(own)
        } else {
            source = DescriptorSource(own, .reading) { [weak self] in self?.readAvailable() }
            // A pipe whose writers have already closed it may not become ready.
            readAvailable()
            source?.resume()
        }
    }

    // The explicit `@MainActor` of the class is required: optimised importers lose the default isolation.
    isolated deinit { end(.failure(CancellationError())) }

    /// Waits for the secret.
    ///
    /// - Returns: The secret.
    /// - Throws: ``EngineError/tooLarge(_:)`` for more than 64 KiB; ``EngineError/invalidArgument(_:)`` if it
    ///   cannot be read, or is not complete within ``timeout``; `CancellationError` if the task is cancelled.
    func secret() async throws -> Secret {
        try await withTaskCancellationHandler {
            try await result.value()
        } onCancel: {
            Task { @MainActor [weak self] in self?.end(.failure(CancellationError())) }
        }
    }

    /// Reads the available bytes.
    private func readAvailable() {
        while !result.isComplete, let source, let bytes {
            let count = bytes.append { rest in
                isSocket
                    ? recv(source.descriptor, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT))
                    : read(source.descriptor, rest.baseAddress, rest.count)
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            if count < 0 { return end(.failure(Self.unreadable)) }
            if count == 0 || bytes.isFull { return end(Self.secret(in: bytes)) }
        }
    }

    /// Reads a file on a thread of its own, because its disk may not respond.
    private func readFile(_ descriptor: Int32) {
        guard let bytes else { return }
        self.bytes = nil
        guard Self.fileCount < Self.maximumFileCount else {
            close(descriptor)
            return end(.failure(Self.unreadable))
        }
        Self.fileCount += 1
        Task { [weak self] in
            let isRead = await DispatchQueue(label: "secret-file").run { () -> Bool in
                defer { close(descriptor) }
                return bytes.readToEnd(descriptor)
            }
            Self.fileCount -= 1
            self?.end(isRead ? Self.secret(in: bytes) : .failure(Self.unreadable))
        }
    }

    private func end(_ result: Result<Secret, any Error>) {
        guard self.result.complete(result) else { return }
        deadline?.cancel()
        source?.cancel()
        source = nil
        bytes = nil
        onEnd()
    }

    private static func secret(in bytes: SecretBytes) -> Result<Secret, any Error> {
        let text = bytes.line
        guard text.count <= limitBytes else {
            return .failure(EngineError.tooLarge("A secret can have at most 64 KiB."))
        }
        return .success(Secret(text))
    }

    private static let unreadable = EngineError.invalidArgument("The secret cannot be read.")
}
