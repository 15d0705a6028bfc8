/// The transfers there are, of all accounts.
final class TransferList {
    private(set) var all: [Transfer] = []
    private unowned let engine: Engine
    private var lastNumber = 0

    init(_ engine: Engine) { self.engine = engine }

    /// Starts a transfer.
    ///
    /// - Throws: ``EngineError/tooManyTransfers``.
    func begin(
        _ original: Original, of account: Account, to destination: TransferDestination
    ) throws(EngineError) -> Transfer {
        guard all.count(where: { !$0.isOver }) < Transfer.maximumUnfinished else {
            throw .tooManyTransfers
        }
        lastNumber += 1
        let transfer = Transfer(number: lastNumber, of: account, in: engine)
        all.append(transfer)
        engine.observer?.transferAdded(transfer)
        transfer.begin(original, to: destination)
        return transfer
    }

    /// Ends the transfers of an account, or of all accounts.
    func stop(of account: Account? = nil, _ reason: String) {
        for transfer in all where account == nil || transfer.account === account {
            transfer.stop(reason)
        }
    }

    /// Forgets a transfer that has ended a while ago.
    func forget(_ transfer: Transfer) {
        all.removeAll { $0 === transfer }
        engine.observer?.transferRemoved(transfer)
    }
}

extension Account {
    /// Starts to write the best there is of a photo into a descriptor.
    ///
    /// - Returns: The transfer, which goes on by itself, whatever becomes of the caller.
    /// - Throws: What ``photo(_:)`` throws, and ``EngineError/tooManyTransfers``. All else is told by the
    ///   transfer.
    package func download(
        _ photo: String, into destination: TransferDestination
    ) async throws -> Transfer {
        try await original(photo) { [engine] original in
            try engine.transfers.begin(original, of: self, to: destination)
        }
    }
}
