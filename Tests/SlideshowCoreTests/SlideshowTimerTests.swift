import TestSupport
import Testing

@testable import SlideshowCore

/// Tests of the timer of the slideshow.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct SlideshowTimerTests {
    private let clock = CountingClock()
    private let fired = Observed(0)

    /// Starts a timer of ten seconds.
    private func startTimer() async throws -> SlideshowTimer {
        let timer = SlideshowTimer(clock) { [fired] in fired.update { $0 += 1 } }
        timer.update(.seconds(10))
        try await sleeping(1)
        return timer
    }

    private func sleeping(_ count: Int) async throws {
        try await poll { clock.sleeperCount == count }
    }

    @Test func `the timer fires once, and again after a restart`() async throws {
        let timer = try await startTimer()
        clock.advance(by: .seconds(10))
        try await fired.wait { $0 == 1 ? true : nil }
        #expect(!timer.isRunning)
        clock.advance(by: .seconds(100))
        timer.restart()
        try await sleeping(1)
        clock.advance(by: .seconds(10))
        try await fired.wait { $0 == 2 ? true : nil }
    }

    @Test func `the rest of the time does not pass while the timer is stopped`() async throws {
        let timer = try await startTimer()
        clock.advance(by: .seconds(6))
        timer.update(nil)
        try await sleeping(0)
        clock.advance(by: .seconds(1000))
        timer.update(.seconds(10))
        try await sleeping(1)
        clock.advance(by: .seconds(3))
        #expect(fired.value == 0 && timer.isRunning)
        clock.advance(by: .seconds(1))
        try await fired.wait { $0 == 1 ? true : nil }
    }

    @Test func `another interval begins anew`() async throws {
        let timer = try await startTimer()
        clock.advance(by: .seconds(9))
        timer.update(.seconds(20))
        try await poll { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(19))
        #expect(fired.value == 0)
        clock.advance(by: .seconds(1))
        try await fired.wait { $0 == 1 ? true : nil }
    }

    @Test func `after a suspend, a timer that was due fires once, others continue`() async throws {
        let timer = try await startTimer()
        clock.suspend(for: .seconds(4))
        timer.resumed()
        try await sleeping(1)
        clock.suspend(for: .seconds(500))
        timer.resumed()
        try await fired.wait { $0 == 1 ? true : nil }
        try await sleeping(0)
        timer.resumed()
        #expect(!timer.isRunning)
    }

    @Test func `a timer that fired waits for the change of the photo`() async throws {
        let timer = try await startTimer()
        clock.advance(by: .seconds(10))
        try await fired.wait { $0 == 1 ? true : nil }
        timer.update(nil)
        timer.update(.seconds(10))
        #expect(!timer.isRunning)
        timer.restart()
        #expect(timer.isRunning)
    }
}
