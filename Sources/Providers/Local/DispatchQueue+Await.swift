internal import Dispatch

extension DispatchQueue {
    /// Runs blocking work on the queue, and waits for its result.
    func perform<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            async { continuation.resume(returning: work()) }
        }
    }
}
