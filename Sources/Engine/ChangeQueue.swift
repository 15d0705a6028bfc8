/// Lets changes happen one after the other, in the order in which they were asked for.
///
/// A change that waits for the disk is not overtaken: the next one sees what it has made of things.
final class ChangeQueue {
    private var isBusy = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Runs `change` when all earlier ones are done. It is run in a task that is cancelled, too.
    func run<Value>(_ change: () async throws -> Value) async rethrows -> Value {
        if isBusy {
            await withCheckedContinuation { waiters.append($0) }
        } else {
            isBusy = true
        }
        defer {
            // Handed on while busy: nobody gets in between.
            if waiters.isEmpty { isBusy = false } else { waiters.removeFirst().resume() }
        }
        return try await change()
    }
}
