internal import EngineModel
package import Feeds
package import ProviderKit
internal import Services

/// Watching sources: while a source of a remote account is watched, it is refreshed at intervals.
extension Account {
    /// Starts or renews the watch of a source by a watcher.
    ///
    /// Call this when the first page of the source was read. An account with photos on this computer reports most changes
    /// without a watch, except those of a source that depends on the date, and of some file systems. Call
    /// ``unwatch(_:)`` when the watcher ends.
    ///
    /// - Parameters:
    ///   - source: The source; an empty ID selects the current default source.
    ///   - watcher: The watcher, which may watch several sources.
    package func watch(_ source: SourceID, by watcher: WatcherID) {
        feedWatch.recordRead(resolve(source.text), by: watcher)
        updateDatedWatch()
    }

    /// Ends all watches of a watcher.
    package func unwatch(_ watcher: WatcherID) {
        feedWatch.remove(watcher)
        updateDatedWatch()
    }

    /// Tells the session if the source that depends on the date is watched.
    func updateDatedWatch() {
        guard let photos, let source = photos.datedSource else { return }
        photos.setWatched(feedWatch.isWatched(source))
    }

    /// Returns true if the photos of a source change with the date, without an event while the source is not watched.
    package func isDated(_ source: SourceID) -> Bool { photos?.datedSource == source }

    /// Ends the watches of clients that have not read a source that depends on the date for a day.
    func endOldWatches(_ source: SourceID) {
        guard isDated(source) else { return }
        feedWatch.endOldWatches()
        updateDatedWatch()
    }

    /// Records that the first page of a source was served from a prepared reply, and refreshes the source in the
    /// background if its top is old.
    package func preparedPageServed(_ source: SourceID) { service?.recordRead(source) }

    /// True if pages of the account expire, because its photos are at a remote service.
    package var hasAgingPages: Bool { !isLocal }

    /// The current time.
    package var now: Timestamp { engine.ports.now() }
}

extension Account {
    var refreshPermission: RefreshPermission {
        // The network may be a captive portal according to NetworkManager, and servers be available. The requests of the
        // account decide.
        guard let photos, state == .ready, isLocal || !engine.isMetered else { return .denied }
        return photos.refreshPermission
    }
}

extension Engine {
    /// The interval between refreshes of a watched source if none is configured.
    package static let defaultRefreshInterval = Duration.seconds(900)
    /// The shortest interval between refreshes of a watched source.
    static let shortestRefreshInterval = Duration.seconds(5)

    /// Changes the interval between refreshes of a watched source, also for existing watchers.
    ///
    /// - Parameter interval: Raised to ``shortestRefreshInterval``; zero disables the refreshes.
    package func setRefreshInterval(_ interval: Duration) {
        let interval = interval == .zero ? nil : max(interval, Self.shortestRefreshInterval)
        guard interval != refreshInterval else { return }
        refreshInterval = interval
        updateFeedWatches()
    }

    /// Ends all watches of a watcher.
    package func unwatch(_ watcher: WatcherID) {
        for account in accounts.all { account.unwatch(watcher) }
    }

    /// Checks the watched sources after a change of the network or the interval.
    func updateFeedWatches() {
        for account in accounts.all { account.feedWatch.update() }
    }
}
