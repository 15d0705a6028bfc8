internal import ProviderKit
internal import Storage

// The times at which the top of a source is refreshed.
extension CachedFeed {
    /// Records a read of the first page, and refreshes the source in the background if its top is old.
    ///
    /// Called also for a prepared reply. Reads no database.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - refreshed: The time of the last refresh, if the caller has read it.
    func recordRead(_ source: SourceID, refreshed: Timestamp? = nil) {
        activity.recordRead(source)
        if let refreshed { activity.recordRefresh(source, at: refreshed) }
        guard activity.needsRefresh(source, now: owner.now), !owner.savesData else { return }
        refreshInBackground(source)
    }

    private func refreshInBackground(_ source: SourceID) {
        activity.recordAttempt(source, now: owner.now)
        Task { _ = try? await fetchTop(source) }
    }

    /// Repeats failed refreshes after an outage.
    ///
    /// Only sources that are cached or watched are refreshed, the most recently read ones, and at most
    /// ``SourceActivity/retryLimit``. A source that does not exist at the service is not refreshed again.
    func retryNow() {
        guard !owner.savesData else { return }
        let failures = activity.failures
        guard !failures.isEmpty else { return }
        Task {
            let keys = failures.map { (source: $0, key: stored($0)) }
            let cached = try? await store.read { [account] (tables) throws(StorageError) in
                var cached: Set<SourceID> = []
                for (source, key) in keys where try tables.source(account, key) != nil {
                    cached.insert(source)
                }
                return cached
            }
            activity.takeRetries(of: failures) { source in
                cached?.contains(source) == true || watch.isWatched(source)
            }.forEach(refreshInBackground)
        }
    }

    /// Refreshes a watched source.
    func refreshWatched(_ source: SourceID) async {
        guard session.accepts(source) else { return }
        _ = try? await fetchTop(source)
    }

    /// Changes ``activity``, and announces a change of its problems.
    func changeActivity(_ change: (inout SourceActivity) -> Void) {
        let before = activity.problems
        change(&activity)
        if activity.problems != before { owner.emit(.changed(.state)) }
    }

    /// Records a successful refresh.
    func recordRefresh(_ source: SourceID) {
        changeActivity { $0.recordSuccess(source, at: owner.now) }
        watch.sourceRefreshed(source)
    }
}
