package import ProviderKit
package import Testing
package import Translation

extension ProviderError {
    /// True if this error is of the case that `create` creates, with any message.
    package func isCase(of create: (Message) -> ProviderError) -> Bool { self == create(message) }
}

/// Expects that `body` throws an error of the case that `create` creates, with any message.
///
/// - Parameters:
///   - create: Creates an error with a message.
///   - sourceLocation: The place of the test.
///   - body: The call that fails.
/// - Returns: The message of the error; nil, with an issue, if `body` does not throw a ``ProviderError``.
@discardableResult
package func expectThrown<Value>(
    _ create: (Message) -> ProviderError, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Value
) async -> Message? {
    do {
        _ = try await body()
        Issue.record("no error", sourceLocation: sourceLocation)
    } catch let error as ProviderError {
        let isExpected = error.isCase(of: create)
        #expect(isExpected, "\(error)", sourceLocation: sourceLocation)
        return error.message
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
    return nil
}
