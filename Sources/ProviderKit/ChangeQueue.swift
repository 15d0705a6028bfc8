internal import Synchronization

/// A queue that runs asynchronous changes one after the other, in the order of the calls.
///
/// A change sees the result of the previous one, also if that one waited for the disk.
package final class ChangeQueue: Sendable {
    private struct State {
        var isBusy = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Creates an empty queue.
    package init() {}

    /// Runs `change` after all earlier changes. The change also runs in a cancelled task.
    package func run<Value>(_ change: () async throws -> Value) async rethrows -> Value {
        await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state in
                guard state.isBusy else {
                    state.isBusy = true
                    return true
                }
                state.waiters.append(continuation)
                return false
            }
            if isFirst { continuation.resume() }
        }
        defer {
            // The queue stays busy until the next change begins, so that no other change runs first.
            let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
                state.isBusy = false
                return nil
            }
            next?.resume()
        }
        return try await change()
    }
}
