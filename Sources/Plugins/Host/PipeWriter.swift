internal import Glibc
internal import ProviderKit
internal import System

/// The writing end of a pipe. Writing does not block. The writer closes the pipe with its last reference.
final class PipeWriter {
    private struct Chunk {
        var bytes: [UInt8]
        /// The memory of a large chunk.
        let memory: MemoryReservation?
    }

    private let descriptor: Int32
    private let limit: Int
    private let timeout: Duration
    /// The bytes that wait for the reader, in chunks: a partial write of the first chunk does not move the others.
    private var waiting: [Chunk] = []
    /// The number of bytes of the first chunk that are written.
    private var written = 0
    /// The number of waiting bytes without a reservation.
    private(set) var count = 0
    /// Calls ``flush()`` when the pipe has room. The source runs while bytes wait.
    private var room: DescriptorSource?
    /// Runs while bytes wait; nil if the reader may take any time.
    private var timer: MainLoopTimer?
    /// Called when no bytes wait any more.
    var onEmpty: (() -> Void)?

    /// The size up to which further lines are appended to a chunk.
    private static let smallChunk = 64 << 10

    /// - Parameters:
    ///   - descriptor: The pipe. The writer closes it.
    ///   - limit: The number of bytes that may wait for the reader, without those that have a reservation.
    ///   - timeout: The time in which the reader must read a part of the waiting bytes.
    ///   - onTimeout: Called if the reader does not read in time; nil for no timeout.
    init(
        _ descriptor: Int32, limit: Int = .max, timeout: Duration = .zero,
        onTimeout: (@MainActor () -> Void)? = nil
    ) {
        self.descriptor = descriptor
        self.limit = limit
        self.timeout = timeout
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        room = DescriptorSource(descriptor, .writing) { [weak self] in self?.flush() }
        timer = onTimeout.map { MainLoopTimer($0) }
    }

    isolated deinit { room?.cancel() }

    /// Writes bytes at once, or when the pipe has room.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - memory: The memory of the bytes, which is retained until they are written.
    /// - Returns: False if too many bytes wait already.
    func write(_ bytes: [UInt8], holding memory: MemoryReservation? = nil) -> Bool {
        guard !bytes.isEmpty else { return true }
        if memory == nil { count += bytes.count }
        let last = waiting.count - 1
        if memory == nil, last >= 0, waiting[last].memory == nil,
            waiting[last].bytes.count + bytes.count <= Self.smallChunk
        {
            waiting[last].bytes += bytes
        } else {
            waiting.append(Chunk(bytes: bytes, memory: memory))
        }
        // Otherwise, the pipe was full, and its source runs.
        if waiting.count == 1, written == 0 { flush() }
        return count <= limit
    }

    private func flush() {
        var isReading = timer?.isRunning == false
        while let first = waiting.first {
            let result = first.bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written)
            }
            if result < 0, errno == EAGAIN { break }
            if result < 0, errno == EINTR { continue }
            isReading = true
            // Another error means that the pipe has no reader. The end of the process is reported separately.
            written = result > 0 ? written + result : first.bytes.count
            guard written == first.bytes.count else { continue }
            if first.memory == nil { count -= written }
            waiting.removeFirst()
            written = 0
        }
        if waiting.isEmpty {
            room?.suspend()
            timer?.cancel()
            onEmpty?()
        } else {
            room?.resume()
            if isReading { timer?.start(after: timeout) }
        }
    }
}
