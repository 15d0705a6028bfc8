package import LoopbackHTTP

/// A clock that advances on demand.
package final class ManualClock: Clock {
    package struct Instant: InstantProtocol {
        package var offset = Duration.zero

        package init(offset: Duration = .zero) { self.offset = offset }

        package func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    /// The deadlines of all sleeps so far.
    package let sleepers = Observed<[Instant]>()
    /// The deadlines of the sleeps in progress.
    private let pending = Observed<[Instant]>()
    private let time = Observed(Instant())

    package init() {}

    package var now: Instant { time.value }
    package var minimumResolution: Duration { .zero }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        pending.append(deadline)
        sleepers.append(deadline)
        defer { pending.update { $0.remove(at: $0.firstIndex(of: deadline) ?? 0) } }
        try await time.wait { $0 >= deadline ? true : nil }
    }

    /// Waits until `begun` sleeps with a deadline have begun.
    package func waitForSleeps(until deadline: Duration, begun: Int = 1) async throws {
        try await sleepers.wait { all in
            all.count { $0.offset == deadline } >= begun ? true : nil
        }
    }

    /// Waits until `begun` sleeps with a deadline have begun, and all but `pending` of them have ended.
    ///
    /// The sleep of a time limit is cancelled when the limited work is done. Afterwards, only work that is still in
    /// progress can exceed its limit.
    package func waitForSleeps(until deadline: Duration, begun: Int, pending: Int) async throws {
        try await waitForSleeps(until: deadline, begun: begun)
        try await self.pending.wait { current in
            current.count { $0.offset == deadline } == pending ? true : nil
        }
    }

    /// Waits until a sleep with a deadline in a range is in progress. A sleep for a duration that begins after the clock
    /// was advanced would end later.
    package func waitForSleep(in range: Range<Duration>) async throws {
        try await pending.wait { current in
            current.contains { range.contains($0.offset) } ? true : nil
        }
    }

    /// Waits until a sleep with a deadline has begun, and lets it end.
    package func endSleep(at deadline: Duration) async throws {
        try await waitForSleeps(until: deadline)
        advance(by: deadline - now.offset)
    }

    package func advance(by duration: Duration) { time.update { $0 = $0.advanced(by: duration) } }
}
