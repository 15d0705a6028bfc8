internal import Synchronization

/// A value that may change on any thread, and for whose changes tests can wait.
package final class Observed<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var waiters: [Int: Waiter] = [:]
        var nextID = 0
    }

    private struct Waiter {
        /// Resumes the waiting task if the value meets its condition.
        let attempt: (Value) -> Bool
        let cancel: () -> Void
    }

    private let state: Mutex<State>

    package init(_ value: Value) { state = Mutex(State(value: value)) }

    package var value: Value { state.withLock { $0.value } }

    /// Changes the value and resumes the tasks whose condition it meets.
    package func update(_ change: (inout Value) -> Void) {
        state.withLock { state in
            change(&state.value)
            for (id, waiter) in state.waiters where waiter.attempt(state.value) {
                state.waiters[id] = nil
            }
        }
    }

    /// Waits until `find` returns a result for the value, and returns it.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, as by the time limit of a test.
    @discardableResult
    package func wait<Result: Sendable>(
        until find: @escaping @Sendable (Value) -> Result?
    ) async throws -> Result {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                register(id, find, continuation)
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func register<Result: Sendable>(
        _ id: Int, _ find: @escaping @Sendable (Value) -> Result?,
        _ continuation: CheckedContinuation<Result, any Error>
    ) {
        state.withLock { state in
            if let result = find(state.value) { return continuation.resume(returning: result) }
            state.waiters[id] = Waiter(
                attempt: { value in
                    guard let result = find(value) else { return false }
                    continuation.resume(returning: result)
                    return true
                },
                cancel: { continuation.resume(throwing: CancellationError()) })
        }
    }

    private func cancel(_ id: Int) {
        state.withLock { $0.waiters.removeValue(forKey: id)?.cancel() }
    }
}

extension Observed where Value: RangeReplaceableCollection, Value.Element: Sendable {
    package convenience init() { self.init(Value()) }

    package func append(_ element: Value.Element) { update { $0.append(element) } }

    /// Waits until there are `count` elements.
    package func elements(_ count: Int) async throws -> Value {
        try await wait { $0.count >= count ? $0 : nil }
    }
}
