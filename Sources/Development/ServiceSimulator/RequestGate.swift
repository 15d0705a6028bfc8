internal import LoopbackHTTP

/// A condition that delays the processing of matching requests until a test releases them.
package final class RequestGate: Sendable {
    let pattern: RequestPattern
    private let gate = Gate()

    init(_ pattern: RequestPattern) { self.pattern = pattern }

    /// Releases the waiting requests and all later ones.
    package func release() { gate.open() }

    /// Blocks until ``release()``.
    func wait() { gate.wait() }
}
