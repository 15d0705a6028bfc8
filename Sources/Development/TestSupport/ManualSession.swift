package import ProviderKit

/// A session whose events a test sends.
package protocol ManualSession: Session {
    /// The events, and the end through which they are sent.
    var channel:
        (stream: AsyncStream<SessionEvent>, continuation: AsyncStream<SessionEvent>.Continuation)
    { get }
}

extension ManualSession {
    package var events: AsyncStream<SessionEvent> { channel.stream }
    package var continuation: AsyncStream<SessionEvent>.Continuation { channel.continuation }
    package func close() { continuation.finish() }
}
