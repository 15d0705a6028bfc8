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
            .asyncMethod("Wait") { try await $0.transfer.wait() },
            .asyncMethod("Cancel") { await $0.transfer.cancel() },
            .property("State") { $0.transfer.state.rawValue },
            .property("Received") { UInt64(clamping: $0.transfer.received) },
            .property("Total") { UInt64(clamping: $0.transfer.total) },
            .property("Error") { $0.error },
        ])

    /// The error name and message; both empty unless the transfer has failed or was cancelled.
    private var error: BusStruct<String, String> {
        guard let reply = transfer.error.map(ErrorTable.reply) else { return BusStruct("", "") }
        return BusStruct(reply.name.text, reply.message)
    }
}
