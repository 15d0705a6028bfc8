internal import ProviderKit

/// An image that is being fetched, however many wait for it; cancelled with the last who does.
final class ImageFetch {
    private struct Waiter {
        let progress: (HTTPProgress) -> Void
        let continuation: CheckedContinuation<String, any Error>
    }

    private var work: Task<Void, Never>?
    private var waiters: [Int: Waiter] = [:]
    private var lastID = 0
    private var latest: HTTPProgress?
    /// Called when nobody waits any more: whoever comes now needs another one.
    private let onEnd: (ImageFetch) -> Void

    init(onEnd: @escaping (ImageFetch) -> Void) { self.onEnd = onEnd }

    /// Begins to fetch.
    ///
    /// - Parameter fetch: Gives the path of the image; runs in a task that is cancelled when nobody wants it.
    func begin(
        _ fetch:
            @escaping (_ progress: @escaping @Sendable (HTTPProgress) -> Void) async throws ->
            String
    ) {
        work = Task {
            do {
                end(
                    .success(
                        try await fetch { progress in Task { @MainActor in self.tell(progress) } }))
            } catch {
                end(.failure(error))
            }
        }
    }

    /// Waits for the path.
    ///
    /// - Throws: What the fetch throws; `CancellationError` when the task is cancelled.
    func path(_ progress: @escaping (HTTPProgress) -> Void) async throws -> String {
        lastID += 1
        let id = lastID
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiters[id] = Waiter(progress: progress, continuation: continuation)
                if let latest { progress(latest) }
                if Task.isCancelled { leave(id) }
            }
        } onCancel: {
            Task { @MainActor in leave(id) }
        }
    }

    /// Cancels the fetch. ``cancel()`` waits for its end.
    func beginCancellation() { work?.cancel() }

    /// Ends the fetch, and returns when nothing of it is written any more.
    func cancel() async {
        work?.cancel()
        await work?.value
    }

    private func tell(_ progress: HTTPProgress) {
        latest = progress
        for waiter in waiters.values { waiter.progress(progress) }
    }

    private func leave(_ id: Int) {
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        if waiters.isEmpty {
            work?.cancel()
            onEnd(self)
        }
        waiter.continuation.resume(throwing: CancellationError())
    }

    private func end(_ result: Result<String, any Error>) {
        onEnd(self)
        let waiters = waiters.values
        self.waiters = [:]
        for waiter in waiters { waiter.continuation.resume(with: result) }
    }
}
