internal import Synchronization

/// A value that may change on any thread, and for whose changes tests can wait.
package final class Observed<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var waiters: [Int: Waiter] = [:]
        var nextID = 0
    }

    private struct Waiter {
        /// Returns the resumption of the waiting task if the value meets its condition.
        let resumption: @Sendable (Value) -> Resumption?
        let cancel: Resumption
    }

    /// Resumes a task. It is called without the lock: a task that is being cancelled is locked while its handler waits
    /// for the lock, and its resumption waits for the task.
    private typealias Resumption = @Sendable () -> Void

    private let state: Mutex<State>

    package init(_ value: Value) { state = Mutex(State(value: value)) }

    package var value: Value { state.withLock { $0.value } }

    /// Changes the value and resumes the tasks whose condition it meets.
    package func update(_ change: (inout Value) -> Void) {
        let resumptions = state.withLock { state in
            change(&state.value)
            var resumptions: [Resumption] = []
            for (id, waiter) in state.waiters {
                guard let resumption = waiter.resumption(state.value) else { continue }
                state.waiters[id] = nil
                resumptions.append(resumption)
            }
            return resumptions
        }
        for resume in resumptions { resume() }
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
        let resumption: @Sendable (Value) -> Resumption? = { value in
            guard let result = find(value) else { return nil }
            return { continuation.resume(returning: result) }
        }
        let resume = state.withLock { state in
            if let resume = resumption(state.value) { return resume }
            state.waiters[id] = Waiter(
                resumption: resumption,
                cancel: { continuation.resume(throwing: CancellationError()) })
            return {}
        }
        resume()
    }

    private func cancel(_ id: Int) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.cancel()
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
