import Synchronization

/// A clock that advances on demand and counts the tasks that sleep.
final class CountingClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset = Duration.zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant()
        var sleepers:
            [Int: (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var lastID = 0
        var startedCount = 0
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }
    /// The number of tasks that sleep now.
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }
    /// The number of sleeps that began, without those that were cancelled before.
    var startedCount: Int { state.withLock { $0.startedCount } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state in
                    guard deadline > state.now, !Task.isCancelled else { return true }
                    state.sleepers[id] = (deadline, continuation)
                    state.startedCount += 1
                    return false
                }
                guard isOver else { return }
                continuation.resume(
                    with: Task.isCancelled ? .failure(CancellationError()) : .success(()))
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Advances the time and wakes the tasks whose deadline has passed.
    func advance(by duration: Duration) {
        let awake = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let awake = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in awake.keys { state.sleepers[id] = nil }
            return awake.values.map(\.continuation)
        }
        for continuation in awake { continuation.resume() }
    }

    /// Advances the time without waking a task, as during a suspend of the machine.
    func suspend(for duration: Duration) {
        state.withLock { $0.now = $0.now.advanced(by: duration) }
    }
}
