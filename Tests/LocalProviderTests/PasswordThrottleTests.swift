import EngineModel
import TestSupport
import Testing

@testable import LocalProvider

@Suite(.timeLimit(.minutes(10))) struct PasswordThrottleTests {
    private let clock = ManualClock()
    private let throttle: PasswordThrottle

    init() { throttle = PasswordThrottle(clock: clock) }

    @Test func `pauses double, up to eight seconds`() {
        let pauses = (0..<7).map { PasswordThrottle.pause(failures: $0) }
        #expect(pauses == [.milliseconds(500)] + [1, 2, 4, 8, 8, 8].map { Duration.seconds($0) })
        #expect(PasswordThrottle.pause(failures: 1_000_000) == .seconds(8))
        #expect(PasswordThrottle.pause(failures: 0, attempts: 5) == .milliseconds(15_500))
    }

    @Test @MainActor func `tries of a user stand in line, and too many are refused`() async throws {
        let refused = Observed(0)
        let done = Observed<[Int]>()
        let running = Observed(0)
        let ran = Observed(0)
        let attempts = (0..<20).map { number in
            Task {
                do {
                    let isCorrect = try await throttle.run("ada") {
                        running.update { $0 += 1 }
                        await Task.yield()
                        #expect(running.value == 1)
                        running.update { $0 -= 1 }
                        // The fifth attempt, in whichever order the tasks begin.
                        ran.update { $0 += 1 }
                        return ran.value == 5
                    }
                    done.append(isCorrect ? 100 + number : number)
                } catch EngineError.tooManyPasswords {
                    refused.update { $0 += 1 }
                }
            }
        }
        try await refused.wait { $0 == 15 ? true : nil }
        // Another user does not wait.
        #expect(try await throttle.run("bob") { true })
        for failures in 0..<4 {
            _ = try await clock.sleepers.elements(2 * (failures + 1))
            clock.advance(by: PasswordThrottle.pause(failures: failures))
        }
        for attempt in attempts { try await attempt.value }
        // The fourth attempt may return after the fifth: both are resumed by the end of the same pause.
        #expect(done.value.count == 5)
        #expect(done.value.count { $0 >= 100 } == 1)
    }

    @Test @MainActor func `cancelling a failed attempt does not shorten its pause`() async throws {
        let first = Task { try await throttle.run("ada") { false } }
        _ = try await clock.sleepers.elements(2)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let tried = Observed(false)
        let second = Task {
            try await throttle.run("ada") {
                tried.update { $0 = true }
                return true
            }
        }
        for _ in 0..<10 { await Task.yield() }
        #expect(!tried.value)
        clock.advance(by: PasswordThrottle.firstPause)
        #expect(try await second.value)
    }
}
