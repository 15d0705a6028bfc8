package import DBus

/// `org.imagefeed.ImageFeed1.Transfer`.
@MainActor
package struct TransferClient {
    let proxy: BusProxy

    package func properties() async throws -> [String: Variant] {
        try await proxy.properties(.transfer)
    }

    /// Calls `handler` with the properties that change, until the result is dropped.
    package func watch(
        _ handler: @escaping ([String: Variant]) -> Void
    ) async throws -> SignalSubscription {
        try await proxy.watch(.transfer, handler)
    }

    /// Waits, as long as it takes, for the end.
    package func wait() async throws { try await proxy.perform(.transfer, "Wait", timeout: nil) }
    package func cancel() async throws { try await proxy.perform(.transfer, "Cancel") }
}
