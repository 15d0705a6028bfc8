internal import Dispatch
internal import System
internal import Web

/// A response body that is written to a file, with its progress reports.
final class Download {
    private let report: @Sendable (HTTPProgress) -> Void
    private let onAdvance: () -> Void
    private var writer: FileWriter?
    private var total: Int?
    private var written = 0
    private var lastReport: (progress: HTTPProgress, time: SuspendingClock.Instant)?
    /// The timer of a delayed report; nil if all progress was reported.
    private var timer: MainLoopTimer?

    private static let pauseBetweenReports = Duration.milliseconds(100)

    /// - Parameters:
    ///   - file: A descriptor open for writing. Not used after ``isIdle`` becomes true.
    ///   - queue: The queue on which the file is written.
    ///   - progress: See `HTTPClient.download`.
    ///   - onAdvance: Called after each write, successful or not.
    init(
        _ file: Int32, on queue: DispatchQueue,
        progress: @escaping @Sendable (HTTPProgress) -> Void, onAdvance: @escaping () -> Void
    ) {
        report = progress
        self.onAdvance = onAdvance
        writer = FileWriter(file, on: queue) { [unowned self] written in advance(written) }
    }

    var isFull: Bool { writer?.isFull ?? false }
    var hasRoom: Bool { writer?.hasRoom ?? true }
    var isIdle: Bool { writer?.isIdle ?? true }
    /// `errno`.
    var failure: Int32? { writer?.failure }

    /// Reports the length of the body before its first byte.
    func begin(total: Int?) {
        self.total = total
        reportSoon()
    }

    func append(_ bytes: UnsafeRawBufferPointer) { writer?.append(bytes) }

    func stop() {
        timer = nil
        writer?.stop()
    }

    /// Reports that the whole body is in the file.
    func reportEnd(total: Int?) {
        self.total = total
        reportNow()
    }

    private func advance(_ written: Int) {
        self.written = written
        reportSoon()
        onAdvance()
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
