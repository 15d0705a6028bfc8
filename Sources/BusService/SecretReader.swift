internal import DBus
internal import Dispatch
internal import Engine
internal import Glibc
internal import ProviderKit

/// Reads secrets that clients hand over as descriptors, to their end; one after the other.
///
/// On a queue of its own, since a client may take its time.
nonisolated enum SecretReader {
    /// How much a secret may have.
    private static let limitBytes = 64 << 10
    /// How long a client may take to write it.
    private static let patience = Duration.seconds(10)
    private static let queue = DispatchQueue(label: "secret-reader")

    /// Reads a secret. One line feed at its end is no part of it.
    ///
    /// - Throws: ``EngineError/tooLarge(_:)`` for more than 64 KiB, ``EngineError/invalidArgument(_:)`` for
    ///   what cannot be read, or does not come to an end within ten seconds.
    static func read(_ descriptor: FileDescriptor) async throws -> Secret {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try readToEnd(descriptor.rawValue) })
            }
        }
    }

    private static func readToEnd(_ descriptor: Int32) throws -> Secret {
        // Never grows: a copy of the secret would stay behind.
        var bytes = [UInt8](repeating: 0, count: limitBytes + 2)
        defer { explicit_bzero(&bytes, bytes.count) }
        var count = 0
        let end = ContinuousClock.now + patience
        while count < bytes.count {
            let left = max(0, (end - .now).components.seconds)
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            switch Glibc.poll(&poll, 1, Int32(left) * 1000) {
            case 0: throw EngineError.invalidArgument("The secret did not come to its end in time.")
            case ..<0 where errno != EINTR: throw unreadable
            case ..<0: continue
            default: break
            }
            let more = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress.map { $0 + count }, $0.count - count)
            }
            if more < 0, errno == EINTR || errno == EAGAIN { continue }
            guard more >= 0 else { throw unreadable }
            if more == 0 { break }
            count += more
        }
        if count > 0, bytes[count - 1] == UInt8(ascii: "\n") { count -= 1 }
        guard count <= limitBytes else {
            throw EngineError.tooLarge("A secret has 64 KiB at most.")
        }
        return bytes.withUnsafeBytes {
            Secret(copying: UnsafeRawBufferPointer(rebasing: $0[..<count]))
        }
    }

    private static let unreadable = EngineError.invalidArgument("The secret cannot be read.")
}
