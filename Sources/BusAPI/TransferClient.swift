package import DBus

/// `org.imagefeed.ImageFeed1.Transfer`.
@MainActor
package struct TransferClient {
    let proxy: BusProxy

    package func properties() async throws -> [String: Variant] {
        try await proxy.properties(.transfer)
    }

    /// Calls `handler` with the changed properties until the returned subscription is released.
    package func watch(
        _ handler: @escaping ([String: Variant]) -> Void
    ) async throws -> SignalSubscription {
        try await proxy.watch(.transfer, handler)
    }

    /// Waits for the end of the transfer, without a time limit.
    package func wait() async throws { try await proxy.perform(.transfer, "Wait", timeout: nil) }
    package func cancel() async throws { try await proxy.perform(.transfer, "Cancel") }
}
