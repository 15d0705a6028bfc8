package import ProviderKit
internal import Synchronization

/// A value of a service that a session does not fetch again for some time.
package final class TimedCache<Value: Sendable>: Sendable {
    private let retention: Duration?
    private let now: @Sendable () -> Timestamp
    private let known = Mutex<(value: Value, fetched: Timestamp)?>(nil)

    /// - Parameters:
    ///   - retention: The time for which the value is not fetched again; nil if there is no limit.
    ///   - now: Returns the current time.
    package init(_ retention: Duration?, now: @escaping @Sendable () -> Timestamp) {
        self.retention = retention
        self.now = now
    }

    /// The last value that was fetched; nil if there is none.
    package var latest: Value? { known.withLock { $0?.value } }

    /// Removes the value.
    package func forget() { known.withLock { $0 = nil } }

    /// Returns the value, which is fetched unless it is known.
    ///
    /// - Parameters:
    ///   - isCurrent: Returns false for a known value that must be fetched again.
    ///   - fetch: Fetches the value.
    /// - Returns: The value.
    /// - Throws: The error of `fetch`.
    package func value(
        where isCurrent: (Value) -> Bool = { _ in true }, fetch: () async throws -> Value
    ) async throws -> Value {
        let start = now()
        if let known = known.withLock({ $0 }), isCurrent(known.value),
            retention.map({ known.fetched <= start && start < known.fetched + $0 }) != false
        {
            return known.value
        }
        let value = try await fetch()
        known.withLock { $0 = (value, start) }
        return value
    }
}
