/// Waits until a condition is true, for state whose changes cannot be observed.
///
/// Prefer ``Observed/wait(until:)``. Tests that call this function have a time limit.
///
/// - Throws: `CancellationError` when the task is cancelled, as by the time limit of a test; an error of `condition`.
package func poll(
    isolation: isolated (any Actor)? = #isolation, until condition: () async throws -> Bool
) async throws {
    while try await !condition() {
        try Task.checkCancellation()
        // Releases the processor for other tests.
        try await Task.sleep(for: .milliseconds(1))
    }
}
