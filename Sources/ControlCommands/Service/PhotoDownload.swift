internal import BusAPI
internal import DBus
internal import Glibc

/// One download, from its start to its end; Ctrl-C cancels it.
@MainActor
final class PhotoDownload {
    private let client: ServiceClient
    private let part: PartFile
    private var transfer: TransferClient?
    private var progress = TransferProgress()
    private var isInterrupted = false

    /// - Parameters:
    ///   - client: The daemon.
    ///   - part: The file to write to.
    init(_ client: ServiceClient, to part: PartFile) {
        self.client = client
        self.part = part
    }

    /// Writes the photo into the file, however long that takes.
    ///
    /// - Parameters:
    ///   - photo: The photo's id.
    ///   - account: Its account.
    /// - Throws: ``BusError``; `CancellationError` after Ctrl-C.
    func run(_ photo: String, of account: AccountClient) async throws {
        let watch = SignalWatch { [weak self] in self?.interrupt() }
        defer { withExtendedLifetime(watch) {} }
        do {
            let transfer = client.transfer(try await account.download(photo, to: part.descriptor))
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

    /// The width of the terminal; nil where nobody looks at progress.
    private static var columns: Int? {
        if case .terminal(let columns, _) = OutputTarget.standardError { columns } else { nil }
    }

    private func interrupt() {
        // The second Ctrl-C does not wait for the daemon.
        if isInterrupted {
            part.discard()
            exit(ProgramStatus.interrupted.rawValue)
        }
        isInterrupted = true
        guard let transfer else { return }
        Task { await cancel(transfer) }
    }

    private func cancel(_ transfer: TransferClient) async {
        // A transfer that has just ended cannot be cancelled; `Wait` tells how it ended.
        try? await transfer.cancel()
    }
}
