/// Runs something for so long at most.
///
/// What runs goes on, or is cancelled if it listens to that; the caller waits no longer.
///
/// - Parameters:
///   - limit: How long the caller waits.
///   - clock: Measures it.
///   - body: Runs in a task of its own.
///   - onTimeout: Makes the result when the time is over.
/// - Returns: What `body` or `onTimeout` returns.
/// - Throws: What `body` or `onTimeout` throws.
func withTimeLimit<Value: Sendable>(
    _ limit: Duration, _ clock: any Clock<Duration>,
    _ body: @escaping @MainActor () async throws -> Value,
    onTimeout: @escaping @MainActor () throws -> Value
) async throws -> Value {
    let race = Race<Value>()
    let work = Task { race.end(await Task { try await body() }.result) }
    let timer = Task {
        do { try await clock.sleep(for: limit) } catch { return }
        race.end(Result { try onTimeout() })
    }
    defer {
        timer.cancel()
        work.cancel()
    }
    return try await race.winner()
}

/// Two that run; the first to end counts.
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
