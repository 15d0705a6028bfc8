internal import LoopbackHTTP

/// A gate that holds matching requests before they are processed, until a test releases them.
package final class RequestGate: Sendable {
    let pattern: RequestPattern
    private let gate = Gate()

    init(_ pattern: RequestPattern) { self.pattern = pattern }

    /// Releases the waiting requests and all later ones.
    package func release() { gate.open() }

    /// Blocks until ``release()``.
    func wait() { gate.wait() }
}
