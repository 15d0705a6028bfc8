internal import EngineModel
internal import ProviderKit
internal import Services
internal import System
internal import Translation

/// A download of a photo to a caller's descriptor. It is retained for a minute after its end.
package final class Transfer: RetainedItem {
    package enum State: String {
        case running
        case done
        case failed
        case cancelled
    }

    static let maximumUnfinishedPerClient = 8
    static let maximumUnfinished = 32
    /// The shortest time between two progress reports to clients.
    static let reportInterval = Duration.milliseconds(100)

    package let number: Int
    package private(set) var state = State.running
    /// The number of bytes received from the service; for a photo on this computer, the number of bytes written.
    package private(set) var received = 0
    /// The total number of bytes; 0 while it is unknown.
    package private(set) var total = 0
    package private(set) var error: (any Error)?
    let account: Account
    let client: String
    private var work: Task<Void, Never>?
    private let outcome = OneShotResult<Void, any Error>()
    /// The pause after a report to clients. Changes during the pause are reported after it.
    private var pause: Task<Void, Never>?
    private var hasUnreportedChange = false

    init(number: Int, of account: Account, for client: String) {
        self.client = client
        self.number = number
        self.account = account
    }

    /// True if all writing has ended. A cancelled transfer may still write for a moment.
    var isOver: Bool { hasEnded && work == nil }

    private var hasEnded: Bool { state != .running }

    /// Starts the transfer.
    ///
    /// - Parameters:
    ///   - original: The photo.
    ///   - destination: The destination, which is released at the end.
    func begin(_ original: Original, to destination: TransferDestination) {
        work = Task {
            do {
                let source = try await original.open { [weak self] in
                    self?.update($0.received, of: $0.total)
                }
                let size = try await destination.copy(source) { [weak self] in
                    self?.update($0, of: $1)
                }
                if !hasEnded {
                    (received, total) = (size, size)
                    end(.done)
                    // Best effort: the transfer has succeeded even if the service cannot count it.
                    Task { try? await original.count() }
                }
            } catch {
                end(.failed, error)
            }
            work = nil
        }
    }

    /// Waits for the end of the transfer. Returns at once if it has ended.
    package func wait() async throws { try await outcome.value() }

    /// Cancels the transfer, and returns when all writing has ended. A finished transfer does not change.
    package func cancel() async {
        stop("The transfer was cancelled.")
        await work?.value
    }

    /// Ends the transfer. The data that was written remains.
    func stop(_ reason: String) {
        guard !hasEnded else { return }
        end(.cancelled, EngineError.cancelled(Message(verbatim: reason)))
        work?.cancel()
    }

    // MARK: Progress

    private func update(_ received: Int, of total: Int?) {
        guard !hasEnded else { return }
        let known = (self.received, self.total)
        // After the fetch, the same bytes are written to the destination. They are not counted again.
        self.received = max(self.received, received)
        self.total = total ?? self.total
        guard known != (self.received, self.total) else { return }
        hasUnreportedChange = true
        if pause == nil { reportProgress() }
    }

    private func reportProgress() {
        hasUnreportedChange = false
        account.engine.emit(.transferChanged(self))
        pause = account.engine.ports.clock.after(Self.reportInterval) { [weak self] in
            guard let self, !hasEnded else { return }
            pause = nil
            if hasUnreportedChange { reportProgress() }
        }
    }

    private func end(_ state: State, _ error: (any Error)? = nil) {
        guard !hasEnded else { return }
        self.state = state
        self.error = error
        pause?.cancel()
        pause = nil
        account.engine.emit(.transferChanged(self))
        outcome.complete(error.map { .failure($0) } ?? .success(()))
        account.engine.transfers.finish(self)
    }
}

extension RetainedList<Transfer> {
    /// Ends the transfers of an account, or of all accounts.
    func stop(of account: Account? = nil, _ reason: String) {
        for transfer in all where account == nil || transfer.account === account {
            transfer.stop(reason)
        }
    }
}

extension Account {
    /// Starts to write the image of a photo in the best available quality to a descriptor.
    ///
    /// - Parameters:
    ///   - photo: The photo.
    ///   - destination: The caller's descriptor.
    ///   - client: The client that calls. The number of transfers of one client is limited.
    /// - Returns: The transfer. It continues if the caller disconnects.
    /// - Throws: The errors of ``photo(_:)``, and ``EngineError/tooManyTransfers``. The transfer reports all other
    ///   errors.
    package func download(
        _ photo: String, into destination: TransferDestination, for client: String = ""
    ) async throws -> Transfer {
        let original = try await session().original(PhotoID(photo))
        // The account may have been logged out in the meantime.
        _ = try session()
        guard engine.transfers.hasRoom(for: client) else { throw EngineError.tooManyTransfers }
        let transfer = engine.transfers.add { number in
            Transfer(number: number, of: self, for: client)
        }
        engine.emit(.transferAdded(transfer))
        transfer.begin(original, to: destination)
        return transfer
    }
}
