internal import Testing

/// Records the error that `body` throws, with its text. Exit tests need this, because an error that leaves the body of an
/// exit test ends the process without its text.
package func recordErrors(_ body: () async throws -> Void) async {
    do { try await body() } catch { Issue.record(error) }
}
