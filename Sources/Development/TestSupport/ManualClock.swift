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
    private let time = Observed(Instant())

    package init() {}

    package var now: Instant { time.value }
    package var minimumResolution: Duration { .zero }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        sleepers.append(deadline)
        try await time.wait { $0 >= deadline ? true : nil }
    }

    package func advance(by duration: Duration) { time.update { $0 = $0.advanced(by: duration) } }
}
