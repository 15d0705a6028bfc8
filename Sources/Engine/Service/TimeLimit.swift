/// Runs `body` with a time limit.
///
/// The task of `body` is cancelled at the end of the limit, and with the task of the caller. Work that must
/// continue then needs a task of its own.
///
/// - Parameters:
///   - limit: The time limit.
///   - clock: The clock that measures the limit.
///   - body: Runs in a task of its own.
///   - onTimeout: Returns the result at the end of the limit. The caller does not wait for `body` then.
/// - Returns: The result of `body` or `onTimeout`.
/// - Throws: The error of `body` or `onTimeout`.
func withTimeLimit<Value: Sendable>(
    _ limit: Duration, _ clock: any Clock<Duration>,
    _ body: @escaping @MainActor () async throws -> Value,
    onTimeout: @escaping @MainActor () throws -> Value
) async throws -> Value {
    let race = Race<Value>()
    let work = Task {
        do { race.end(.success(try await body())) } catch { race.end(.failure(error)) }
    }
    let timer = Task {
        do { try await clock.sleep(for: limit) } catch { return }
        race.end(Result { try onTimeout() })
    }
    defer {
        timer.cancel()
        work.cancel()
    }
    return try await withTaskCancellationHandler {
        try await race.winner()
    } onCancel: {
        work.cancel()
    }
}

/// The first result of two tasks.
private final class Race<Value: Sendable> {
    private var result: Result<Value, any Error>?
    private var waiter: CheckedContinuation<Value, any Error>?

    func end(_ result: Result<Value, any Error>) {
        guard self.result == nil else { return }
        self.result = result
        waiter?.resume(with: result)
        waiter = nil
    }

    func winner() async throws -> Value {
        if let result { return try result.get() }
        return try await withCheckedThrowingContinuation { waiter = $0 }
    }
}
