internal import Feeds
internal import ProviderKit
internal import Services
internal import System

/// The timer that refreshes the watched sources of an account.
///
/// The timer runs only while a source is watched and a refresh is permitted.
final class FeedWatch {
    /// The longest sleep. A watch whose interval is longer wakes up in between.
    private static let longestPause = Duration.seconds(86_400)
    /// The time by which a refresh may be early when the timer fires.
    private static let tolerance = Duration.seconds(1)

    private weak var account: Account?
    private let engine: Engine
    private var schedule = WatchSchedule()
    private var timer: (pause: Duration, armed: Timestamp, task: Task<Void, Never>)?
    /// The refreshes in progress. One source is refreshed at a time, so that each response affects the next decision.
    private var refreshing: Task<Void, Never>?

    init(_ account: Account) {
        self.account = account
        engine = account.engine
    }

    private var now: Timestamp { engine.ports.now() }

    /// The watched sources.
    var sources: [SourceID] { schedule.watched }

    /// Returns true if at least one watcher watches the source.
    func isWatched(_ source: SourceID) -> Bool { schedule.isWatched(source) }

    /// True if a timer is set, or a refresh is in progress.
    var isActive: Bool { timer != nil || refreshing != nil }

    /// True if no refresh is in progress, and the timer, if there is one, is not due.
    var isSettled: Bool {
        guard refreshing == nil, let timer else { return refreshing == nil }
        let passed = now.secondsSince1970 - timer.armed.secondsSince1970
        return timer.pause > .seconds(passed)
    }

    /// Records that a watcher reads the first page of a source.
    func recordRead(_ source: SourceID, by watcher: WatcherID) {
        let isNew = schedule.recordRead(source, by: watcher, now: now, shift: .random(in: 0...1))
        if isNew { update() }
    }

    /// Ends all watches of a watcher.
    func remove(_ watcher: WatcherID) {
        guard !schedule.isEmpty else { return }
        schedule.remove(watcher)
        update()
    }

    /// Ends the watches of clients that have not read their source for ``WatchSchedule/retention``.
    func endOldWatches() { schedule.endOldWatches(now: now) }

    /// Starts the interval of a source again, because it was refreshed.
    func sourceRefreshed(_ source: SourceID) {
        guard schedule.isWatched(source) else { return }
        schedule.restart(source, now: now, shift: .random(in: 0...1))
        update()
    }

    /// Refreshes the sources that are due, if that is permitted, and sets the timer. Called whenever the interval or
    /// the permission may have changed.
    func update() { update(tolerance: .zero) }

    /// Sets the timer again. A timer does not count the time during which the machine was suspended.
    func resumed() {
        cancelTimer()
        update()
    }

    private func update(tolerance: Duration) {
        guard refreshing == nil else { return }
        guard !schedule.isEmpty, let interval = engine.refreshInterval else { return cancelTimer() }
        let now = now
        switch account?.refreshPermission ?? .denied {
        case .denied: cancelTimer()
        case .deniedUntil(let time):
            let seconds = max(1, time.secondsSince1970 - now.secondsSince1970)
            // No permitted refresh can become due during the pause.
            setTimer(max(.seconds(seconds), schedule.pause(at: now, interval) ?? .zero), now)
        case .permitted:
            if schedule.nextDue(at: now, interval, tolerance: tolerance) != nil {
                cancelTimer()
                refreshing = Task { await refreshDue(tolerance) }
            } else if let pause = schedule.pause(at: now, interval) {
                setTimer(pause, now)
            } else {
                cancelTimer()
            }
        }
    }

    private func refreshDue(_ tolerance: Duration) async {
        while let interval = engine.refreshInterval, account?.refreshPermission == .permitted,
            let source = schedule.nextDue(at: now, interval, tolerance: tolerance)
        {
            schedule.restart(source, now: now, shift: .random(in: 0...1))
            await account?.photos?.refreshWatched(source)
            // A refresh that failed is not repeated before the next interval.
            schedule.restart(source, now: now, shift: .random(in: 0...1))
        }
        refreshing = nil
        update()
    }

    private func setTimer(_ pause: Duration, _ now: Timestamp) {
        let pause = min(pause, Self.longestPause)
        if let timer,
            timer.pause + .seconds(timer.armed.secondsSince1970)
                == pause + .seconds(now.secondsSince1970)
        {
            return
        }
        cancelTimer()
        let task = engine.ports.clock.after(pause) { [weak self] in
            // The update must not cancel this task.
            self?.timer = nil
            self?.update(tolerance: Self.tolerance)
        }
        timer = (pause, now, task)
    }

    private func cancelTimer() {
        timer?.task.cancel()
        timer = nil
    }
}
