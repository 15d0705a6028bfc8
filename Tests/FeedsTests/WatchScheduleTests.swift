import ProviderKit
import TestSupport
import Testing

@testable import Feeds

@Suite struct WatchScheduleTests {
    private let start = Timestamp(secondsSince1970: 1_800_000_000)
    private let interval = Duration.seconds(1000)
    private let new = SourceID("new")
    private let other = SourceID("other")
    private let client = WatcherID.client(":1.1")

    private func nextDue(_ schedule: inout WatchSchedule, after seconds: Int) -> SourceID? {
        schedule.nextDue(at: start + .seconds(seconds), interval, tolerance: .zero)
    }

    private func read(
        _ schedule: inout WatchSchedule, by client: WatcherID, after seconds: Int = 0,
        shift: Double = 0
    ) -> Bool {
        schedule.recordRead(new, by: client, now: start + .seconds(seconds), shift: shift)
    }

    @Test(arguments: [(0.0, 1000), (0.5, 1050), (1.0, 1100)])
    func `a source is due after the interval and a shift up to a tenth`(shift: Double, due: Int) {
        var schedule = WatchSchedule()
        #expect(schedule.pause(at: start, interval) == nil)
        #expect(read(&schedule, by: client, shift: shift))
        #expect(nextDue(&schedule, after: due - 1) == nil)
        #expect(nextDue(&schedule, after: due) == new)
        #expect(schedule.pause(at: start + .seconds(due - 10), interval) == .seconds(10))
        schedule.restart(new, now: start + .seconds(due), shift: 0)
        #expect(nextDue(&schedule, after: due + 999) == nil)
        #expect(nextDue(&schedule, after: due + 1000) == new)
    }

    @Test func `a second watcher and another read do not restart the interval`() {
        var schedule = WatchSchedule()
        #expect(read(&schedule, by: client))
        #expect(!read(&schedule, by: client, after: 500))
        #expect(!read(&schedule, by: .client(":1.2"), after: 500))
        #expect(nextDue(&schedule, after: 1000) == new)
    }

    @Test func `a source is watched until its last watcher is gone`() {
        var schedule = WatchSchedule()
        for name in [":1.1", ":1.2"] {
            _ = schedule.recordRead(new, by: .client(name), now: start, shift: 0)
        }
        schedule.remove(.client(":1.1"))
        #expect(schedule.isWatched(new))
        schedule.remove(.client(":1.2"))
        #expect(schedule.isEmpty)
        #expect(nextDue(&schedule, after: 5000) == nil)
    }

    @Test func `the watch of a client ends a day after its last read`() {
        var schedule = WatchSchedule()
        _ = schedule.recordRead(new, by: client, now: start, shift: 0)
        _ = schedule.recordRead(new, by: client, now: start + .seconds(3600), shift: 0)
        _ = schedule.recordRead(other, by: .component("slideshow"), now: start, shift: 0)
        _ = nextDue(&schedule, after: 3600 + 86_399)
        #expect(schedule.isWatched(new))
        _ = nextDue(&schedule, after: 3600 + 86_400)
        #expect(!schedule.isWatched(new))
        #expect(schedule.isWatched(other))
    }

    @Test func `a client watches a limited number of sources, the ones that it read last`() {
        var schedule = WatchSchedule()
        _ = schedule.recordRead(new, by: .client(":1.2"), now: start, shift: 0)
        for number in 0..<WatchSchedule.sourceLimit + 3 {
            _ = schedule.recordRead(
                SourceID("search:\(number)"), by: client, now: start + .seconds(number), shift: 0)
        }
        for number in 0..<WatchSchedule.sourceLimit + 3 {
            #expect(schedule.isWatched(SourceID("search:\(number)")) == (number >= 3))
        }
        // The limit of one client does not affect another.
        #expect(schedule.isWatched(new))
    }

    @Test func `a clock that is set back makes a source due`() {
        var schedule = WatchSchedule()
        _ = schedule.recordRead(new, by: client, now: start, shift: 0)
        #expect(nextDue(&schedule, after: -1) == new)
    }
}

@Suite struct SourceActivityTests {
    private let now = Timestamp(secondsSince1970: 1_800_000_000)
    private let offline = HTTPError.unreachable("no network")

    @Test func `a read refreshes a source that is older than five minutes, once in a minute`() {
        var activity = SourceActivity()
        let new = SourceID("new")
        activity.recordRead(new)
        activity.recordRefresh(new, at: now)
        #expect(!activity.needsRefresh(new, now: now + .seconds(299)))
        #expect(activity.needsRefresh(new, now: now + .seconds(300)))
        #expect(activity.needsRefresh(new, now: now + .seconds(-1)))
        activity.recordAttempt(new, now: now + .seconds(300))
        #expect(!activity.needsRefresh(new, now: now + .seconds(359)))
        #expect(activity.needsRefresh(new, now: now + .seconds(360)))
    }

    @Test func `failures are retried once, the most recently read source first`() {
        var activity = SourceActivity()
        for name in ["a", "b", "c", "d"] {
            activity.recordRead(SourceID(name))
            activity.recordAttempt(SourceID(name), now: now)
        }
        activity.recordRead(SourceID("a"))
        for name in ["a", "b", "d"] { activity.recordFailure(SourceID(name), offline) }
        let failures = activity.failures
        #expect(failures == ["a", "d", "b"].map { SourceID($0) })
        // A client refreshed it meanwhile.
        activity.recordAttempt(SourceID("d"), now: now)
        let retries = activity.takeRetries(of: failures) { _ in true }
        #expect(retries == ["a", "b"].map { SourceID($0) })
        #expect(activity.failures.isEmpty)
    }

    @Test(arguments: [
        ProviderError.notFound("It is gone."), .invalidArgument("No."), .notSupported("No."),
        .denied("No."),
    ])
    func `a refused source is not refreshed again`(error: ProviderError) {
        var activity = SourceActivity()
        let new = SourceID("new")
        activity.recordRead(new)
        activity.recordAttempt(new, now: now)
        activity.recordFailure(new, offline)
        #expect(activity.wantsRetry(new))
        activity.recordAttempt(new, now: now)
        activity.recordFailure(new, error)
        #expect(!activity.wantsRetry(new))
    }

    @Test func `the number of remembered sources is limited`() {
        var activity = SourceActivity()
        for number in 0..<1000 {
            let source = SourceID("search:\(number)")
            activity.recordRead(source)
            activity.recordAttempt(source, now: now)
            activity.recordFailure(source, offline)
        }
        #expect(activity.count == SourceActivity.limit)
        #expect(activity.failures.first == SourceID("search:999"))
        let failures = activity.failures
        let unknown = activity.takeRetries(of: failures) { _ in false }
        #expect(unknown.isEmpty)
        #expect(activity.failures.isEmpty)
    }
}
