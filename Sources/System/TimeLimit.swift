/// Runs `body` with a time limit.
///
/// The task of `body` is cancelled at the end of the limit, and with the task of the caller. Work that must
/// continue after that needs a separate task.
///
/// - Parameters:
///   - limit: The time limit.
///   - clock: The clock that measures the limit.
///   - calls: The group whose end ends the call, too; nil for none.
///   - body: The work. It runs in a separate task.
///   - onTimeout: Returns the result at the end of the limit. The caller does not wait for `body` then.
/// - Returns: The result of `body` or `onTimeout`.
/// - Throws: The error of `body` or `onTimeout`, or that of the end of the group.
@MainActor
package func withTimeLimit<Value: Sendable>(
    _ limit: Duration, _ clock: any Clock<Duration>, in calls: CallGroup? = nil,
    _ body: @escaping @MainActor () async throws -> Value,
    onTimeout: @escaping @MainActor () throws -> Value
) async throws -> Value {
    let result = OneShotResult<Value, any Error>()
    let work = Task { result.complete(await Result(body)) }
    let timer = clock.after(limit) { result.complete(Result { try onTimeout() }) }
    let call = calls?.add { result.complete(.failure($0)) }
    defer {
        if let call { calls?.remove(call) }
        timer.cancel()
        work.cancel()
    }
    return try await withTaskCancellationHandler {
        try await result.value()
    } onCancel: {
        work.cancel()
    }
}

extension Clock<Duration> {
    /// Runs `body` after a pause, unless the returned task is cancelled before.
    @MainActor
    package func after(
        _ pause: Duration, _ body: @escaping @MainActor () async -> Void
    ) -> Task<Void, Never> {
        // The task may start later.
        let deadline = now.advanced(by: pause)
        return Task {
            do { try await sleep(until: deadline, tolerance: nil) } catch { return }
            await body()
        }
    }

    /// Returns a function that returns the time since this call.
    package func stopwatch() -> () -> Duration {
        let start = now
        return { [self] in start.duration(to: now) }
    }
}

/// The calls in progress that end together.
@MainActor
package final class CallGroup {
    private var ends: [Int: (any Error) -> Void] = [:]
    private var lastID = 0

    package init() {}

    /// Adds a call.
    ///
    /// - Parameter end: Ends the call with an error.
    /// - Returns: The identifier for ``remove(_:)``.
    package func add(end: @escaping (any Error) -> Void) -> Int {
        lastID += 1
        ends[lastID] = end
        return lastID
    }

    /// Removes a call that ended.
    package func remove(_ id: Int) { ends[id] = nil }

    /// Ends all calls in progress.
    ///
    /// - Parameter error: The error of the calls.
    package func end(_ error: any Error) {
        let ends = ends.values
        self.ends = [:]
        for end in ends { end(error) }
    }
}
