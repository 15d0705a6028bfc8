internal import Contract
internal import DBus
internal import EngineCore

extension Transfer {
    /// `org.imagefeed.ImageFeed1.Transfer`.
    static let interface = BusInterface<Transfer>(
        versioned: .transfer,
        [
            .asyncMethod(.wait) { try await $0.wait() },
            .asyncMethod(.cancel) { await $0.cancel() },
            .property(.state) { $0.state.rawValue },
            .property(.received) { UInt64(clamping: $0.received) },
            .property(.total) { UInt64(clamping: $0.total) },
            .property(.error) { ErrorTable.property($0.error) },
        ])
}
