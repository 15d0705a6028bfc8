internal import Synchronization

/// Calls that wait for something, each for a limited time.
final class WaitingCalls<Tag: Sendable>: Sendable {
    private struct State {
        var calls: [Int: (tag: Tag, continuation: CheckedContinuation<Void, Never>)] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())

    /// Waits until ``resume(where:)`` includes the tag, or for the time limit.
    ///
    /// - Parameters:
    ///   - tag: The tag of the call.
    ///   - timeout: The time limit.
    ///   - clock: Measures the limit.
    ///   - isOver: Returns true if there is nothing to wait for. Called after the call is registered.
    func wait(
        for tag: Tag, atMost timeout: Duration, _ clock: any Clock<Duration>,
        unless isOver: () -> Bool
    ) async {
        var timer: Task<Void, any Error>?
        defer { timer?.cancel() }
        await withCheckedContinuation { continuation in
            let number = state.withLock { state in
                state.lastNumber += 1
                state.calls[state.lastNumber] = (tag, continuation)
                return state.lastNumber
            }
            guard !isOver() else { return resume(number) }
            timer = Task { @MainActor in
                try await clock.sleep(for: timeout)
                resume(number)
            }
        }
    }

    /// Ends the wait of the calls with some tags.
    func resume(where isIncluded: (Tag) -> Bool = { _ in true }) {
        let numbers = state.withLock { state in
            state.calls.filter { isIncluded($0.value.tag) }.map(\.key)
        }
        numbers.forEach(resume)
    }

    private func resume(_ number: Int) {
        state.withLock { $0.calls.removeValue(forKey: number) }?.continuation.resume()
    }
}
