import Testing

@testable import System

@MainActor
@Suite(.timeLimit(.minutes(10)))
struct OneShotResultTests {
    private struct Failure: Error, Equatable { let number: Int }

    @Test func `a result that arrived before is returned at once`() async throws {
        let result = OneShotResult<Int, Never>()
        #expect(result.complete(.success(1)))
        #expect(!result.complete(.success(2)))
        #expect(await result.value() == 1)
        #expect(await result.value() == 1)
    }

    @Test func `a result that arrives later resumes the waiting task`() async {
        let result = OneShotResult<Int, Failure>()
        // Runs while this task waits, since both belong to the main actor.
        Task { result.complete(.failure(Failure(number: 3))) }
        await #expect(throws: Failure(number: 3)) { try await result.value() }
    }
}
