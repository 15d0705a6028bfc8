// LoopbackHTTP is a separate module, because programs that are not tests use it without a bus and the testing library.
// Tests import it through this module.
@_exported public import LoopbackHTTP
internal import Testing

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
        try await Task.sleep(for: .milliseconds(5))
    }
}

/// Records the error that `body` throws, with its text. Exit tests need this, because an error that leaves the body of an
/// exit test ends the process without its text.
package func recordErrors(_ body: () async throws -> Void) async {
    do { try await body() } catch { Issue.record(error) }
}
