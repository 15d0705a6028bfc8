internal import Dispatch
internal import Glibc
internal import Synchronization

/// Threads for work that blocks, such as decoding. The newest job comes first.
///
/// libdispatch's own threads would wake the idle process every second.
nonisolated final class WorkerThreads: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var threads = 0
    }

    private let state = Mutex(State())
    private let available = DispatchSemaphore(value: 0)
    private let maximum: Int

    /// - Parameter maximum: The largest number of threads. They start on demand and stay.
    init(maximum: Int) { self.maximum = maximum }

    /// Runs `body` on one of the threads.
    ///
    /// - Returns: Its result.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            add { continuation.resume(returning: body()) }
        }
    }

    private func add(_ job: @escaping @Sendable () -> Void) {
        let startsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.threads < maximum else { return false }
            state.threads += 1
            return true
        }
        available.signal()
        guard startsThread else { return }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<WorkerThreads>.fromOpaque(context).takeRetainedValue().work()
                return nil
            }, context)
        if result == 0 {
            pthread_detach(thread)
        } else {
            Unmanaged<WorkerThreads>.fromOpaque(context).release()
            state.withLock { $0.threads -= 1 }
        }
    }

    private func work() {
        while true {
            available.wait()
            state.withLock { $0.jobs.popLast() }?()
        }
    }
}
