internal import Synchronization

/// A queue that runs asynchronous changes one after the other, in the order of the calls.
///
/// A change sees the result of the previous one, also if that one waited for the disk.
package final class ChangeQueue: Sendable {
    private struct State {
        var isBusy = false
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// The waiters of background work, after all others.
        var background: [CheckedContinuation<Void, Never>] = []

        mutating func popWaiter() -> CheckedContinuation<Void, Never>? {
            if !waiters.isEmpty { return waiters.removeFirst() }
            return background.isEmpty ? nil : background.removeFirst()
        }
    }

    private let state = Mutex(State())

    /// Creates an empty queue.
    package init() {}

    /// Runs `change` after all earlier changes. The change also runs in a cancelled task.
    package func run<Value>(_ change: () async throws -> Value) async rethrows -> Value {
        await begin()
        defer { end() }
        return try await change()
    }

    /// Waits for all earlier changes; ``end()`` has to follow. Background work also waits for later changes.
    package func begin(inBackground: Bool = false) async {
        await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state in
                guard state.isBusy else {
                    state.isBusy = true
                    return true
                }
                if inBackground {
                    state.background.append(continuation)
                } else {
                    state.waiters.append(continuation)
                }
                return false
            }
            if isFirst { continuation.resume() }
        }
    }

    /// Ends the change that ``begin(inBackground:)`` began.
    package func end() {
        // The queue stays busy until the next change begins, so that no other change runs first.
        let next = state.withLock { state in
            let next = state.popWaiter()
            state.isBusy = next != nil
            return next
        }
        next?.resume()
    }
}
