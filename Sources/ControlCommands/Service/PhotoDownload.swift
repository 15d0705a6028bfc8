internal import Contract
internal import DBus
internal import Glibc

/// One download, with its progress bar; Ctrl-C cancels it.
@MainActor
final class PhotoDownload {
    private let client: ServiceClient
    private let file: DownloadFile
    private var transfer: TransferClient?
    private var progress = TransferProgress()
    private var isInterrupted = false

    /// Prepares a download to `file`.
    init(_ client: ServiceClient, to file: DownloadFile) {
        self.client = client
        self.file = file
    }

    /// Writes the photo into the file. There is no timeout.
    ///
    /// - Parameters:
    ///   - photo: The photo's ID.
    ///   - account: The account of the photo.
    /// - Throws: ``BusError``; `CancellationError` after Ctrl-C.
    func run(_ photo: String, of account: AccountClient) async throws {
        let watch = SignalWatch { [weak self] in self?.interrupt() }
        defer { withExtendedLifetime(watch) {} }
        do {
            let transfer = client.transfer(try await account.download(photo, to: file.descriptor))
            self.transfer = transfer
            if isInterrupted { await cancel(transfer) }
            let changes = try await transfer.watch { [weak self] in self?.show($0) }
            defer { withExtendedLifetime(changes) {} }
            show(try await transfer.properties())
            defer { if Self.columns != nil { Console.redraw("") } }
            try await transfer.wait()
        } catch {
            if isInterrupted { throw CancellationError() }
            throw error
        }
    }

    private func show(_ changes: [String: Variant]) {
        progress.apply(changes)
        if let columns = Self.columns { Console.redraw(progress.line(columns)) }
    }

    /// The width of the terminal at standard error; nil if it is not a terminal, so that no progress is shown.
    private static var columns: Int? {
        if case .terminal(let columns, _) = OutputTarget.standardError { columns } else { nil }
    }

    private func interrupt() {
        // A second Ctrl-C exits without waiting for the daemon.
        if isInterrupted {
            file.discard()
            exit(ProgramStatus.interrupted.rawValue)
        }
        isInterrupted = true
        guard let transfer else { return }
        Task { await cancel(transfer) }
    }

    private func cancel(_ transfer: TransferClient) async {
        // If the transfer has already ended, `Cancel` fails, and `Wait` returns the result.
        try? await transfer.cancel()
    }
}
