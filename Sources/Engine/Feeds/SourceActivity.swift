internal import EngineModel
package import ProviderKit
internal import Quoting
internal import Translation

/// The recent reads and refreshes of the sources of one account.
///
/// This type only decides; ``CachedFeed`` sends the requests. It has entries for a limited number of sources, the most
/// recently read ones.
nonisolated package struct SourceActivity {
    /// The age from which the top of a source is refreshed when it is read.
    package static let freshness = Duration.seconds(300)
    /// The time after a refresh in which a read starts no other one, because the refresh may have failed.
    package static let retryPause = Duration.seconds(60)
    /// The maximum number of sources with an entry.
    static let limit = 64
    /// The number of failed refreshes that are repeated after an outage.
    static let retryLimit = 8

    private struct Entry {
        /// The time of the last successful refresh; nil if it is not known.
        var refreshed: Timestamp?
        /// The start of the last refresh.
        var attempted: Timestamp?
        /// True if the last refresh failed for a temporary reason.
        var wantsRetry = false
        /// The reason for which the service did not return the source; nil after a successful refresh.
        var problem: Message?
        /// The position in the order of reads.
        var lastRead = 0
        /// The last request for the end of the source.
        var endRequested: Timestamp?
    }

    private var entries: [SourceID: Entry] = [:]
    private var readCount = 0

    package init() {}

    /// Records a read of the first page.
    package mutating func recordRead(_ source: SourceID) {
        readCount += 1
        entries[source, default: Entry()].lastRead = readCount
        evict()
    }

    /// The age from which the end of a source is requested again.
    package static let endFreshness = Duration.seconds(3600)

    /// Records a request for the end of a source.
    package mutating func recordEnd(_ source: SourceID, now: Timestamp) {
        entries[source, default: Entry()].endRequested = now
        evict()
    }

    /// Records that a request for the end of a source failed. The end is old again after ``retryPause``.
    package mutating func recordEndFailure(_ source: SourceID, now: Timestamp) {
        recordEnd(source, now: now + (Self.retryPause - Self.endFreshness))
    }

    /// Returns true if the end of a source was not requested within an hour and since the start of the daemon.
    package func isEndOld(_ source: SourceID, now: Timestamp) -> Bool {
        guard let requested = entries[source]?.endRequested else { return true }
        return now < requested || now >= requested + Self.endFreshness
    }

    /// Records that a refresh starts.
    package mutating func recordAttempt(_ source: SourceID, now: Timestamp) {
        entries[source, default: Entry()].attempted = now
        entries[source]?.wantsRetry = false
        evict()
    }

    /// Records the time of the last successful refresh, which may have been before the start.
    package mutating func recordRefresh(_ source: SourceID, at time: Timestamp) {
        entries[source]?.refreshed = time
    }

    /// Records that a refresh succeeded.
    package mutating func recordSuccess(_ source: SourceID, at time: Timestamp) {
        entries[source]?.problem = nil
        recordRefresh(source, at: time)
    }

    /// Records that a refresh failed.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - error: The error. Some errors end the retries, such as `notFound`.
    package mutating func recordFailure(_ source: SourceID, _ error: any Error) {
        entries[source]?.wantsRetry = Self.mayPass(error)
        // The state of the account tells the other errors, or they concern a source that does not exist.
        switch error {
        case ProviderError.failed(let reason), ProviderError.denied(let reason):
            entries[source]?.problem = reason
        default: break
        }
    }

    /// Sentences about the sources that the service did not return, in the order of their IDs.
    package var problems: [String] {
        entries.compactMap { source, entry in entry.problem.map { (source.text, $0.translated) } }
            .sorted { $0 < $1 }
            .map {
                tr(
                    "The source {source} could not be read: {reason}",
                    ["source": $0.quoted, "reason": $1])
            }
    }

    /// The sources that the service did not return, at most ``retryLimit``, the most recently read first.
    package var broken: [SourceID] { Array(latest { $0.problem != nil }.prefix(Self.retryLimit)) }

    /// Removes the problems of sources that no longer exist.
    package mutating func removeProblems(of sources: [SourceID]) {
        for source in sources { entries[source]?.problem = nil }
    }

    /// Decides if a read of a source starts a refresh.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - now: The current time. If the clock was set back, every source is old.
    /// - Returns: True if the read has to start a refresh.
    package func needsRefresh(_ source: SourceID, now: Timestamp) -> Bool {
        guard let entry = entries[source] else { return true }
        if let refreshed = entry.refreshed, refreshed <= now, now < refreshed + Self.freshness {
            return false
        }
        guard let attempted = entry.attempted else { return true }
        return now < attempted || now >= attempted + Self.retryPause
    }

    /// Returns true if the last refresh failed for a temporary reason.
    func wantsRetry(_ source: SourceID) -> Bool { entries[source]?.wantsRetry == true }

    /// The sources whose last refresh failed for a temporary reason, the most recently read first.
    package var failures: [SourceID] { latest(where: \.wantsRetry) }

    /// Returns the sources that meet a condition, the most recently read first.
    private func latest(where condition: (Entry) -> Bool) -> [SourceID] {
        entries.filter { condition($0.value) }.sorted { $0.value.lastRead > $1.value.lastRead }
            .map(\.key)
    }

    /// Selects the sources to refresh after an outage, and removes the other failures.
    ///
    /// - Parameters:
    ///   - failures: A former value of ``failures``.
    ///   - isKnown: Returns true for a source that is cached or watched.
    /// - Returns: At most ``retryLimit`` sources, without those that were refreshed in the meantime.
    package mutating func takeRetries(
        of failures: [SourceID], _ isKnown: (SourceID) -> Bool
    ) -> [SourceID] {
        let retries = failures.filter { wantsRetry($0) && isKnown($0) }.prefix(Self.retryLimit)
        for source in failures { entries[source]?.wantsRetry = false }
        return Array(retries)
    }

    /// The current number of sources with an entry.
    var count: Int { entries.count }

    private mutating func evict() {
        guard entries.count > Self.limit,
            let oldest = entries.min(by: { $0.value.lastRead < $1.value.lastRead })
        else { return }
        entries[oldest.key] = nil
    }

    private static func mayPass(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.failed, ProviderError.rateLimited, ProviderError.unauthorized,
            ProviderError.storageFull:
            true
        case is ProviderError, is EngineError, is CancellationError: false
        default: true
        }
    }
}
