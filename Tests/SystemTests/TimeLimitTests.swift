import System
import TestSupport
import Testing

/// Work with a time limit, and work that several callers share.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct TimeLimitTests {
    private struct Late: Error {}
    private let clock = ManualClock()
    private let isReleased = Observed(false)
    /// The results of the work: true if its task was cancelled.
    private let ends = Observed<[Bool]>()

    /// Work that ends when it is cancelled or released.
    private func work() async throws -> Int {
        do {
            try await isReleased.wait { $0 ? true : nil }
        } catch {
            ends.append(Task.isCancelled)
            throw error
        }
        ends.append(Task.isCancelled)
        return 1
    }

    private func limited() async throws -> Int {
        try await withTimeLimit(.seconds(5), clock) {
            try await work()
        } onTimeout: {
            throw Late()
        }
    }

    @Test func `work that takes too long is cancelled`() async throws {
        let call = Task { try await limited() }
        _ = try await clock.sleepers.elements(1)
        clock.advance(by: .seconds(5))
        await #expect(throws: Late.self) { try await call.value }
        #expect(try await ends.elements(1) == [true])
    }

    @Test func `work within the limit gives its result`() async throws {
        let call = Task { try await limited() }
        _ = try await clock.sleepers.elements(1)
        clock.advance(by: .seconds(4))
        isReleased.update { $0 = true }
        #expect(try await call.value == 1)
        #expect(ends.value == [false])
    }

    @Test func `the caller's cancellation cancels the work`() async throws {
        let call = Task { try await limited() }
        _ = try await clock.sleepers.elements(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(try await ends.elements(1) == [true])
    }

    // MARK: Shared work

    private func share(_ flights: SingleFlight<String, Int>) -> Task<Int, any Error> {
        // Runs until it waits.
        Task.immediate { try await flights.run("key") { try await work() } }
    }

    @Test func `shared work runs once, and continues without the callers that were cancelled`()
        async throws
    {
        let flights = SingleFlight<String, Int>(cancelsAbandoned: true)
        let calls = (0..<3).map { _ in share(flights) }
        calls[0].cancel()
        await #expect(throws: CancellationError.self) { try await calls[0].value }
        #expect(flights.isRunning("key"))
        isReleased.update { $0 = true }
        for call in calls[1...] { #expect(try await call.value == 1) }
        #expect(ends.value == [false])
        #expect(!flights.isRunning("key"))
    }

    @Test func `shared work without callers is cancelled, and the next call starts anew`()
        async throws
    {
        let flights = SingleFlight<String, Int>(cancelsAbandoned: true)
        let calls = (0..<2).map { _ in share(flights) }
        for call in calls { call.cancel() }
        for call in calls {
            await #expect(throws: CancellationError.self) { try await call.value }
        }
        #expect(try await ends.elements(1) == [true])
        isReleased.update { $0 = true }
        #expect(try await share(flights).value == 1)
        #expect(ends.value == [true, false])
    }

    @Test func `shared work whose result is stored continues without callers`() async throws {
        let flights = SingleFlight<String, Int>()
        let call = share(flights)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(flights.isRunning("key"))
        isReleased.update { $0 = true }
        #expect(try await ends.elements(1) == [false])
    }

    @Test func `a cancelled task starts no shared work`() async throws {
        let flights = SingleFlight<String, Int>()
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await flights.run("key") { try await work() }
        }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(!flights.isRunning("key"))
    }
}
