internal import Synchronization

/// Lets changes happen one after the other, in the order in which they were asked for.
///
/// A change that waits for the disk is not overtaken: the next one sees what it has made of things.
package final class ChangeQueue: Sendable {
    private struct State {
        var isBusy = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Runs `change` when all earlier ones are done. It is run in a task that is cancelled, too.
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
            // Handed on while busy: nobody gets in between.
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
