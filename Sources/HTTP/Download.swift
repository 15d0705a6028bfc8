internal import Dispatch
internal import Glibc
internal import Synchronization
internal import System
internal import Web

/// A response body that is written to a file in the order of its arrival, with its progress reports.
///
/// Writes on a separate queue, because a disk or a network file system may be slow.
final class Download {
    private let file: Int32
    private let report: @Sendable (HTTPProgress) -> Void
    private unowned let transfer: CurlTransfer
    nonisolated private let isStopped = Atomic(false)
    /// The data to write after the current piece.
    private var waiting: [UInt8] = []
    private var writing = 0
    private var written = 0
    /// The `errno` of a failed write, after which nothing is written.
    private(set) var failure: Int32?
    private var total: Int?
    private var lastReport: (progress: HTTPProgress, time: SuspendingClock.Instant)?
    /// The timer of a delayed report; nil if all progress was reported.
    private var timer: MainLoopTimer?

    private static let pauseBetweenReports = Duration.milliseconds(100)
    /// The largest number of bytes in memory.
    private static let capacity = 1 << 20

    /// - Parameters:
    ///   - file: A descriptor open for writing. Not used after ``isIdle`` becomes true.
    ///   - progress: See `HTTPClient.download`.
    ///   - transfer: The transfer, which owns this object.
    init(
        _ file: Int32, progress: @escaping @Sendable (HTTPProgress) -> Void,
        _ transfer: CurlTransfer
    ) {
        self.file = file
        report = progress
        self.transfer = transfer
    }

    /// True if no more data should be appended for now.
    var isFull: Bool { waiting.count + writing >= Self.capacity }

    /// True if there is room for a large piece again.
    var hasRoom: Bool { waiting.count + writing <= Self.capacity / 4 }

    /// True if no write is in progress.
    var isIdle: Bool { writing == 0 }

    /// Reports the length of the body before its first byte.
    func begin(total: Int?) {
        self.total = total
        reportSoon()
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil, !isStopped.load(ordering: .relaxed) else { return }
        waiting += bytes
        if isIdle { writeNext() }
    }

    /// Discards the data after the current piece.
    func stop() {
        timer = nil
        isStopped.store(true, ordering: .relaxed)
        waiting = []
    }

    /// Reports that the whole body is in the file.
    func reportEnd(total: Int?) {
        self.total = total
        reportNow()
    }

    private func writeNext() {
        let piece = waiting
        waiting = []
        writing = piece.count
        transfer.client.fileQueue.async { [file] in
            let isDone =
                self.isStopped.load(ordering: .relaxed) || writeAll(piece, to: file)
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
        reportSoon()
        transfer.advance()
    }

    /// Reports the progress immediately, or after the minimum pause between two reports.
    private func reportSoon() {
        guard timer == nil else { return }
        guard let lastReport else { return reportNow() }
        let pause = lastReport.time + Self.pauseBetweenReports - SuspendingClock.now
        guard pause > .zero else { return reportNow() }
        timer = MainLoopTimer(after: pause) { [unowned self] in reportNow() }
    }

    private func reportNow() {
        timer = nil
        let progress = HTTPProgress(received: written, total: total)
        guard progress != lastReport?.progress else { return }
        lastReport = (progress, .now)
        report(progress)
    }
}
