internal import Dispatch
internal import ProviderKit

/// A body on its way into a file, and what is told of it meanwhile.
final class Download {
    private let report: @Sendable (HTTPProgress) -> Void
    private let onAdvance: () -> Void
    private var writer: FileWriter?
    private var total: Int?
    private var written = 0
    private var lastReport = SuspendingClock.now

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

    func append(_ bytes: UnsafeRawBufferPointer, total: Int?) {
        self.total = total
        writer?.append(bytes)
    }

    func stop() { writer?.stop() }

    /// All of it is in the file.
    func reportEnd(total: Int?) { report(HTTPProgress(received: written, total: total)) }

    private func advance(_ written: Int) {
        self.written = written
        let now = SuspendingClock.now
        if now - lastReport >= Self.pauseBetweenReports && !isIdle {
            lastReport = now
            report(HTTPProgress(received: written, total: total))
        }
        onAdvance()
    }
}
