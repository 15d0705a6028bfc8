internal import Accounts
internal import Services

/// The transfers of all accounts.
final class TransferList {
    private(set) var all: [Transfer] = []
    private lazy var finishedTransfers = FinishedItems<Transfer>(
        engine.ports.clock, time: Transfer.retentionTime
    ) { [unowned self] in forget($0) }
    private unowned let engine: Engine
    private var lastNumber = 0

    init(_ engine: Engine) { self.engine = engine }

    /// Starts a transfer.
    ///
    /// - Parameters:
    ///   - original: The photo.
    ///   - account: The account that has the photo.
    ///   - destination: The caller's descriptor.
    ///   - client: The client that calls. The number of transfers of one client is limited.
    /// - Returns: The transfer.
    /// - Throws: ``EngineError/tooManyTransfers``.
    func begin(
        _ original: Original, of account: Account, to destination: TransferDestination,
        for client: String
    ) throws(EngineError) -> Transfer {
        let unfinished = all.filter { !$0.isOver }
        guard unfinished.count < Transfer.maximumUnfinished,
            unfinished.count(where: { $0.client == client })
                < Transfer.maximumUnfinishedPerClient
        else { throw .tooManyTransfers }
        lastNumber += 1
        let transfer = Transfer(number: lastNumber, of: account, for: client, in: engine)
        all.append(transfer)
        engine.emit(.transferAdded(transfer))
        transfer.begin(original, to: destination)
        return transfer
    }

    /// Ends the transfers of an account, or of all accounts.
    func stop(of account: Account? = nil, _ reason: String) {
        for transfer in all where account == nil || transfer.account === account {
            transfer.stop(reason)
        }
    }

    /// Limits the number of finished transfers.
    func finished(_ transfer: Transfer) {
        finishedTransfers.append(transfer, of: transfer.client)
    }

    /// Removes a finished transfer.
    func forget(_ transfer: Transfer) {
        finishedTransfers.remove(transfer)
        all.removeAll { $0 === transfer }
        engine.emit(.transferRemoved(transfer))
    }
}

extension Account {
    /// Starts to write the image of a photo in the best available quality to a descriptor.
    ///
    /// - Parameters:
    ///   - photo: The photo.
    ///   - destination: The caller's descriptor.
    ///   - client: The client that calls.
    /// - Returns: The transfer. It continues if the caller disconnects.
    /// - Throws: The errors of ``photo(_:)``, and ``EngineError/tooManyTransfers``. The transfer reports all other
    ///   errors.
    package func download(
        _ photo: String, into destination: TransferDestination, for client: String = ""
    ) async throws -> Transfer {
        try await original(photo) { [engine] original in
            try engine.transfers.begin(original, of: self, to: destination, for: client)
        }
    }
}
