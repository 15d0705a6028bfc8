internal import Glibc
internal import System

/// The writing end of a pipe. Writing does not block. The writer closes the pipe with its last reference.
final class PipeWriter {
    /// Bytes, and the function that returns the next ones of a message that is written in parts, or nil at its end.
    private typealias Chunk = (bytes: [UInt8], more: (() -> [UInt8]?)?)

    private let descriptor: Int32
    private let timeout: Duration
    /// The bytes that wait for the reader, in chunks: a partial write of the first chunk does not move the others.
    private var waiting: [Chunk] = []
    /// The number of bytes of the first chunk that are written.
    private var written = 0
    /// The number of waiting bytes, without the messages that are written in parts.
    private(set) var count = 0
    /// Calls ``flush()`` when the pipe has room. The source runs while bytes wait.
    private var room: DescriptorSource?
    /// Runs while bytes wait.
    private let timer: MainLoopTimer

    /// The size up to which further lines are appended to a chunk.
    private static let smallChunk = 64 << 10
    /// The number of bytes that are written before other events are handled.
    private static let roundBytes = 1 << 18

    /// - Parameters:
    ///   - descriptor: The pipe. The writer closes it.
    ///   - timeout: The time in which the reader must read a part of the waiting bytes.
    ///   - work: Records the processor time.
    ///   - onTimeout: Called if the reader does not read in time.
    init(
        _ descriptor: Int32, timeout: Duration, work: PluginWork,
        onTimeout: @escaping @MainActor () -> Void
    ) {
        self.descriptor = descriptor
        self.timeout = timeout
        timer = MainLoopTimer(onTimeout)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        room = DescriptorSource(descriptor, .writing) { [weak self] in
            work.measure { self?.flush() }
        }
    }

    isolated deinit { room?.cancel() }

    /// Writes bytes at once, or when the pipe has room.
    func write(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        count += bytes.count
        let last = waiting.count - 1
        if last >= 0, waiting[last].more == nil,
            waiting[last].bytes.count + bytes.count <= Self.smallChunk
        {
            waiting[last].bytes += bytes
        } else {
            add((bytes, nil))
        }
    }

    /// Writes the parts of a message when the pipe has room for them.
    func write(parts: @escaping () -> [UInt8]?) {
        if let first = parts() { add((first, parts)) }
    }

    private func add(_ chunk: Chunk) {
        waiting.append(chunk)
        // Otherwise, the pipe was full, and its source runs.
        if waiting.count == 1 { flush() }
    }

    private func flush() {
        var isReading = !timer.isRunning
        var rest = Self.roundBytes
        while rest > 0, let first = waiting.first {
            let result = first.bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written)
            }
            if result < 0, errno == EAGAIN { break }
            if result < 0, errno == EINTR { continue }
            isReading = true
            written += max(0, result)
            rest -= max(0, result)
            // Another error means that the pipe has no reader. The end of the process is reported separately.
            guard result < 0 || written == first.bytes.count else { continue }
            written = 0
            if first.more == nil { count -= first.bytes.count }
            if result >= 0, let next = first.more?() {
                waiting[0].bytes = next
            } else {
                waiting.removeFirst()
            }
        }
        if waiting.isEmpty {
            room?.suspend()
            timer.cancel()
        } else {
            room?.resume()
            if isReading { timer.start(after: timeout) }
        }
    }
}
