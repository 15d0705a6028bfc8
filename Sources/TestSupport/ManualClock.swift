import Synchronization
import TestSupport

/// A clock that goes on when the test says so.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var offset = Duration.zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    /// When those who sleep want to be woken.
    let sleepers = Observed<[Instant]>()
    private let time = Observed(Instant())

    var now: Instant { time.value }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        sleepers.append(deadline)
        try await time.wait { $0 >= deadline ? true : nil }
    }

    func advance(by duration: Duration) { time.update { $0 = $0.advanced(by: duration) } }
}
