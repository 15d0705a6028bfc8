import System
import Testing

struct BackoffTests {
    @Test func `each pause is longer than the one before, up to a limit`() {
        var backoff = Backoff(first: .seconds(1), factor: 5, longest: .seconds(60), tolerance: 1)
        var pauses = [backoff.pause]
        for _ in 0..<5 {
            backoff.recordFailure()
            pauses.append(backoff.pause)
        }
        #expect(pauses == [0, 0, 1, 5, 25, 60].map { .seconds($0) })
        backoff.recordSuccess()
        #expect(backoff.pause == .zero)
        #expect(backoff.failures == 0)
    }
}
