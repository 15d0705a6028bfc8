internal import Contract
internal import DBus
internal import Engine

/// `org.imagefeed.ImageFeed1.Transfer`.
final class TransferObject {
    private let transfer: Transfer

    init(_ transfer: Transfer) { self.transfer = transfer }

    static let interface = BusInterface<TransferObject>(
        versioned: .transfer,
        [
            .asyncMethod(.wait) { try await $0.transfer.wait() },
            .asyncMethod(.cancel) { await $0.transfer.cancel() },
            .property(.state) { $0.transfer.state.rawValue },
            .property(.received) { UInt64(clamping: $0.transfer.received) },
            .property(.total) { UInt64(clamping: $0.transfer.total) },
            .property(.error) { ErrorTable.property($0.transfer.error) },
        ])
}
