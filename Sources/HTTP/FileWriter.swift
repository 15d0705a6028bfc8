internal import Dispatch
internal import Glibc
internal import Synchronization

/// Writes what comes into a file, in order, on a queue of its own: a disk may be slow, and a home far away.
final class FileWriter {
    private let file: Int32
    private let queue: DispatchQueue
    /// Called on the main queue after each piece: what has been written, in all.
    private let onWritten: (Int) -> Void
    private let isStopped = Flag()
    /// What waits for the piece that is being written.
    private var waiting: [UInt8] = []
    private var writing = 0
    private var written = 0
    /// `errno`, after which nothing is written any more.
    private(set) var failure: Int32?

    /// So much may wait in memory.
    private static let capacity = 1 << 20

    init(_ file: Int32, on queue: DispatchQueue, onWritten: @escaping (Int) -> Void) {
        self.file = file
        self.queue = queue
        self.onWritten = onWritten
    }

    /// Whether more should not be appended for now.
    var isFull: Bool { waiting.count + writing >= Self.capacity }

    /// Whether there is room for a good piece again.
    var hasRoom: Bool { waiting.count + writing <= Self.capacity / 4 }

    /// Whether all of it is in the file, or will never be.
    var isIdle: Bool { writing == 0 }

    func append(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil, !isStopped.isRaised else { return }
        waiting += bytes
        if isIdle { writeNext() }
    }

    /// Writes no more than what is being written.
    func stop() {
        isStopped.raise()
        waiting = []
    }

    private func writeNext() {
        let piece = waiting
        waiting = []
        writing = piece.count
        queue.async { [file, isStopped] in
            let code = isStopped.isRaised ? 0 : writeAll(piece, to: file)
            DispatchQueue.main.async { self.finish(piece.count, code) }
        }
    }

    private func finish(_ count: Int, _ code: Int32) {
        writing = 0
        if code == 0 {
            written += count
        } else {
            failure = code
            waiting = []
        }
        if !waiting.isEmpty { writeNext() }
        onWritten(written)
    }
}

/// Raised on one thread and seen on another.
nonisolated private final class Flag: Sendable {
    private let value = Atomic(false)
    var isRaised: Bool { value.load(ordering: .relaxed) }
    func raise() { value.store(true, ordering: .relaxed) }
}

/// - Returns: 0, or `errno`.
nonisolated private func writeAll(_ bytes: [UInt8], to file: Int32) -> Int32 {
    bytes.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest)
            let count = write(file, piece.baseAddress, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : EIO }
            rest = rest.dropFirst(count)
        }
        return 0
    }
}
