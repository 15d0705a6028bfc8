internal import Dispatch
internal import Glibc
internal import Synchronization
internal import System

/// A writer of data to a file, in the order of its arrival.
///
/// Writes on a separate queue, because a disk or a network file system may be slow.
final class FileWriter {
    private let file: Int32
    private let queue: DispatchQueue
    /// Called on the main queue after each piece, with the total number of written bytes.
    private let onWritten: (Int) -> Void
    private let isStopped = Flag()
    /// The data to write after the current piece.
    private var waiting: [UInt8] = []
    private var writing = 0
    private var written = 0
    /// The `errno` of a failed write, after which nothing is written.
    private(set) var failure: Int32?

    /// The largest number of bytes in memory.
    private static let capacity = 1 << 20

    init(_ file: Int32, on queue: DispatchQueue, onWritten: @escaping (Int) -> Void) {
        self.file = file
        self.queue = queue
        self.onWritten = onWritten
    }

    /// True if no more data should be appended for now.
    var isFull: Bool { waiting.count + writing >= Self.capacity }

    /// True if there is room for a large piece again.
    var hasRoom: Bool { waiting.count + writing <= Self.capacity / 4 }

    /// True if no write is in progress.
    var isIdle: Bool { writing == 0 }

    func append(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil, !isStopped.isRaised else { return }
        waiting += bytes
        if isIdle { writeNext() }
    }

    /// Discards the data after the current piece.
    func stop() {
        isStopped.raise()
        waiting = []
    }

    private func writeNext() {
        let piece = waiting
        waiting = []
        writing = piece.count
        queue.async { [file, isStopped] in
            let isDone = isStopped.isRaised || AtomicFile.writeAll(piece, to: file)
            let code = isDone ? 0 : errno
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

/// A flag that one thread raises and another thread reads.
nonisolated private final class Flag: Sendable {
    private let value = Atomic(false)
    var isRaised: Bool { value.load(ordering: .relaxed) }
    func raise() { value.store(true, ordering: .relaxed) }
}
