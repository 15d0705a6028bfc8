package import ProviderKit
internal import Synchronization

/// The sources of an account, which a session does not fetch again for a minute.
package final class SourceCache: Sendable {
    private struct Known {
        let sources: [Source]
        let fetched: Timestamp
    }

    /// The time for which the sources are not fetched again.
    private static let retention = Duration.seconds(60)

    private let now: @Sendable () -> Timestamp
    private let known = Mutex<Known?>(nil)

    /// - Parameter now: Returns the current time.
    package init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    /// Returns the sources, which are fetched at most once a minute.
    ///
    /// - Parameter fetch: Fetches the sources.
    /// - Returns: The sources that were fetched within the last minute.
    /// - Throws: The error of `fetch`.
    package func sources(fetch: () async throws -> [Source]) async throws -> [Source] {
        let start = now()
        if let known = known.withLock({ $0 }), known.fetched <= start,
            start < known.fetched + Self.retention
        {
            return known.sources
        }
        let sources = try await fetch()
        known.withLock { $0 = Known(sources: sources, fetched: start) }
        return sources
    }
}
