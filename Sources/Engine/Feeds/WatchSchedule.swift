package import ProviderKit

/// Identifies a watcher of sources.
nonisolated package enum WatcherID: Hashable, Sendable {
    /// A client, by its unique bus name. Its watch of a source ends when it has not read the source for
    /// ``WatchSchedule/retention``.
    case client(String)
    /// A part of the daemon. It watches a source until it ends the watch.
    case component(String)
}

/// The watchers of an account's sources, and the times at which the sources are due for a refresh.
///
/// This type only decides; ``FeedWatch`` has the timer and sends the requests.
nonisolated package struct WatchSchedule {
    /// The time for which a client watches a source that it does not read again.
    package static let retention = Duration.seconds(86_400)
    /// The number of sources that one watcher watches; the least recently read one is dropped.
    static let sourceLimit = 16
    /// The largest random shift is the interval divided by this. A refresh is never early.
    static let shiftDivisor = 10

    private struct Source {
        /// The last read by each watcher.
        var reads: [WatcherID: Timestamp] = [:]
        /// The start of the current interval.
        var restarted: Timestamp
        /// The random shift of this interval, from 0 to 1.
        var shift: Double

        /// The time left until the source is due. If the clock was set back, the source is due.
        func remaining(at now: Timestamp, _ interval: Duration) -> Duration {
            guard now >= restarted else { return .zero }
            let passed = Duration.seconds(now.secondsSince1970 - restarted.secondsSince1970)
            let wait = interval + interval * Int(shift * 1000) / (1000 * WatchSchedule.shiftDivisor)
            return max(.zero, wait - passed)
        }
    }

    private var sources: [SourceID: Source] = [:]

    package init() {}

    /// True if no source is watched.
    package var isEmpty: Bool { sources.isEmpty }

    /// The watched sources.
    package var watched: [SourceID] { Array(sources.keys) }

    /// Returns true if at least one watcher watches the source.
    package func isWatched(_ source: SourceID) -> Bool { sources[source] != nil }

    /// Records that a watcher reads the first page of a source.
    ///
    /// - Parameters:
    ///   - source: The source; not empty for the default source.
    ///   - watcher: The reader, which watches the source from now on.
    ///   - now: The current time.
    ///   - shift: The random shift of the first interval, from 0 to 1.
    /// - Returns: True if the source was not watched before.
    package mutating func recordRead(
        _ source: SourceID, by watcher: WatcherID, now: Timestamp,
        shift: @autoclosure () -> Double
    ) -> Bool {
        // In the most frequent case, the watcher reads the source again.
        if sources[source]?.reads.updateValue(now, forKey: watcher) != nil { return false }
        let isNew = sources[source] == nil
        if isNew {
            sources[source] = Source(reads: [watcher: now], restarted: now, shift: shift())
        }
        limitSources(of: watcher, keeping: source)
        return isNew
    }

    /// Ends all watches of a watcher.
    package mutating func remove(_ watcher: WatcherID) {
        for source in Array(sources.keys) { remove(watcher, from: source) }
    }

    /// Starts the interval of a source again, after a refresh.
    package mutating func restart(_ source: SourceID, now: Timestamp, shift: Double) {
        sources[source]?.restarted = now
        sources[source]?.shift = shift
    }

    /// Returns the time until the next source is due; nil if no source is watched.
    package func pause(at now: Timestamp, _ interval: Duration) -> Duration? {
        sources.values.lazy.map { $0.remaining(at: now, interval) }.min()
    }

    /// Ends the watches that are too old, and finds a source that is due.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - interval: The interval between refreshes.
    ///   - tolerance: The time by which a source may be early. Timestamps are whole seconds, timers are not.
    /// - Returns: The source that is due for the longest time; nil if none is.
    package mutating func nextDue(
        at now: Timestamp, _ interval: Duration, tolerance: Duration
    ) -> SourceID? {
        endOldWatches(now: now)
        let next = sources.min {
            $0.value.remaining(at: now, interval) < $1.value.remaining(at: now, interval)
        }
        guard let next, next.value.remaining(at: now, interval) <= tolerance else { return nil }
        return next.key
    }

    /// Ends the watches of clients that have not read their source for ``retention``.
    package mutating func endOldWatches(now: Timestamp) {
        for (source, state) in sources {
            for (watcher, read) in state.reads {
                guard case .client = watcher, now >= read + Self.retention else { continue }
                remove(watcher, from: source)
            }
        }
    }

    private mutating func limitSources(of watcher: WatcherID, keeping source: SourceID) {
        let reads = sources.compactMapValues { $0.reads[watcher] }
        guard reads.count > Self.sourceLimit else { return }
        let oldest = reads.filter { $0.key != source }.min { $0.value < $1.value }
        if let oldest { remove(watcher, from: oldest.key) }
    }

    private mutating func remove(_ watcher: WatcherID, from source: SourceID) {
        sources[source]?.reads[watcher] = nil
        if sources[source]?.reads.isEmpty == true { sources[source] = nil }
    }
}
