/// A coordinator of work whose result is shared by all callers that need it at the same time.
@MainActor
package final class SingleFlight<Key: Hashable, Value: Sendable> {
    private let cancelsAbandoned: Bool
    private var running: [Key: Flight<Value>] = [:]

    /// - Parameter cancelsAbandoned: True if the cancellation of all callers cancels the work. Otherwise, the work
    ///   continues: its result is stored, and serves the next call.
    package init(cancelsAbandoned: Bool = false) { self.cancelsAbandoned = cancelsAbandoned }

    /// Returns true if work is in progress for `key`.
    package func isRunning(_ key: Key) -> Bool { running[key] != nil }

    /// Waits for the work in progress for `key`, or starts it.
    ///
    /// - Parameters:
    ///   - key: Identifies the work.
    ///   - work: The work. It runs in a separate task, unless work for `key` is in progress.
    /// - Returns: The result of the work.
    /// - Throws: The error of the work, for every caller; `CancellationError` at once if the task of the caller
    ///   is cancelled. A cancelled task starts no work.
    package func run(
        _ key: Key, _ work: @escaping @MainActor () async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        if let flight = running[key] { return try await flight.wait() }
        let flight = Flight<Value>()
        running[key] = flight
        flight.onAbandon = { [weak self, weak flight] in
            guard let self, cancelsAbandoned, let flight else { return }
            if running[key] === flight { running[key] = nil }
            flight.task?.cancel()
        }
        flight.task = Task {
            let result = await Result(work)
            if running[key] === flight { running[key] = nil }
            flight.end(result)
        }
        return try await flight.wait()
    }

    /// Cancels all work in progress.
    package func cancelAll() {
        for flight in running.values { flight.task?.cancel() }
    }

    /// Cancels the work in progress for some keys, and returns when it has ended.
    package func cancel(where isIncluded: (Key) -> Bool) async {
        let tasks = running.filter { isIncluded($0.key) }.values.map(\.task)
        for task in tasks { task?.cancel() }
        for task in tasks { await task?.value }
    }
}

/// The work for one key, and its callers.
@MainActor
private final class Flight<Value: Sendable> {
    var task: Task<Void, Never>?
    /// Called when the last caller was cancelled.
    var onAbandon: () -> Void = {}
    private var waiters: [OneShotResult<Value, any Error>] = []

    func wait() async throws -> Value {
        let waiter = OneShotResult<Value, any Error>()
        waiters.append(waiter)
        return try await withTaskCancellationHandler {
            try await waiter.value()
        } onCancel: {
            Task { @MainActor in leave(waiter) }
        }
    }

    func end(_ result: Result<Value, any Error>) {
        for waiter in waiters { waiter.complete(result) }
    }

    private func leave(_ waiter: OneShotResult<Value, any Error>) {
        guard waiter.complete(.failure(CancellationError())) else { return }
        waiters.removeAll { $0 === waiter }
        if waiters.isEmpty { onAbandon() }
    }
}

extension Result where Failure == any Error {
    /// Creates the result of an operation.
    @MainActor
    package init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
