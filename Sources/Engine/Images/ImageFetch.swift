internal import ProviderKit

/// The fetch of an image, which any number of callers await. It is cancelled when its last caller is cancelled.
final class ImageFetch {
    private struct Waiter {
        let progress: (HTTPProgress) -> Void
        let continuation: CheckedContinuation<String, any Error>
    }

    private var work: Task<Void, Never>?
    private var waiters: [Int: Waiter] = [:]
    private var lastID = 0
    private var latest: HTTPProgress?
    /// Called when the fetch has no more callers. A later caller needs a new fetch.
    private let onEnd: (ImageFetch) -> Void

    init(onEnd: @escaping (ImageFetch) -> Void) { self.onEnd = onEnd }

    /// Starts the fetch.
    ///
    /// - Parameter fetch: Returns the path of the image. It runs in a task that is cancelled with the last caller.
    func begin(
        _ fetch:
            @escaping (_ progress: @escaping @Sendable (HTTPProgress) -> Void) async throws ->
            String
    ) {
        work = Task {
            do {
                end(
                    .success(
                        try await fetch { progress in Task { @MainActor in self.report(progress) } }
                    ))
            } catch {
                end(.failure(error))
            }
        }
    }

    /// Waits for the path.
    ///
    /// - Throws: The error of the fetch; `CancellationError` if the task of the caller is cancelled.
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

    /// Ends the fetch, and returns when it has stopped writing.
    func cancel() async {
        work?.cancel()
        await work?.value
    }

    private func report(_ progress: HTTPProgress) {
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
