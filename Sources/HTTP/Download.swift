internal import Dispatch
internal import ProviderKit
internal import System

/// A body that is written to a file, and the reports of its progress.
final class Download {
    private let report: @Sendable (HTTPProgress) -> Void
    private let onAdvance: () -> Void
    private var writer: FileWriter?
    private var total: Int?
    private var written = 0
    private var lastReport: (progress: HTTPProgress, time: SuspendingClock.Instant)?
    /// Reports what arrived shortly after the last report; nil if all was reported.
    private var timer: MainLoopTimer?

    private static let pauseBetweenReports = Duration.milliseconds(100)

    /// - Parameters:
    ///   - file: Open for writing. Not touched any more once ``isIdle``.
    ///   - queue: Where it is written.
    ///   - progress: See `HTTPClient.download`.
    ///   - onAdvance: Called when something was written, or could not be.
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

    /// Reports the length of the body, which is about to arrive.
    func begin(total: Int?) {
        self.total = total
        reportSoon()
    }

    func append(_ bytes: UnsafeRawBufferPointer) { writer?.append(bytes) }

    func stop() {
        timer = nil
        writer?.stop()
    }

    /// Reports that all of the body is in the file.
    func reportEnd(total: Int?) {
        self.total = total
        reportNow()
    }

    private func advance(_ written: Int) {
        self.written = written
        reportSoon()
        onAdvance()
    }

    /// Reports the progress: at once, or after the pause that follows a report.
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
