/// A provider that does not come with the program.
package protocol InstalledProvider: Provider {
    /// How it is doing, and where it runs.
    @MainActor var condition: ProviderCondition { get }

    /// The hosts that get the token of an account, and the program that has them asked. A stored token is used while
    /// all of them are the same as at the login. Empty if there is no token.
    var tokenRecipients: Set<String> { get }

    /// Starts to write the messages of the provider's program to a pipe, until the reader closes the pipe.
    ///
    /// - Parameter descriptor: The writing end of a pipe. It stays the caller's.
    /// - Returns: The result.
    @MainActor func startTrace(_ descriptor: Int32) -> TraceStart
}

extension InstalledProvider {
    package var tokenRecipients: Set<String> { [] }

    @MainActor package func startTrace(_ descriptor: Int32) -> TraceStart { .notSupported }
}

/// The result of an attempt to start a trace.
package enum TraceStart: Sendable {
    case started
    /// The provider has no program.
    case notSupported
    /// The descriptor is not the writing end of a pipe with a reader.
    case noPipe
    /// There are too many traces.
    case tooMany
}

/// What there is to know of a provider that somebody has installed.
package struct ProviderCondition: Hashable, Sendable {
    package enum State: String, Sendable {
        case ready
        /// What was installed is of no use.
        case invalid
        /// It failed too often, and is left alone until it changes.
        case disabled
    }

    package var state: State
    /// One sentence; empty when it is ready.
    package var reason: String
    /// What keeps it from the rest of the computer: `bubblewrap`, `landlock`, `none`, or empty if it cannot run.
    package var confinement: String

    package init(state: State, reason: String, confinement: String) {
        self.state = state
        self.reason = reason
        self.confinement = confinement
    }
}

/// A provider that cannot be used, or is not there any more: what is known of it, and why.
package struct UnusableProvider: InstalledProvider {
    package let info: ProviderInfo
    package let condition: ProviderCondition

    /// - Parameters:
    ///   - info: What was known of it.
    ///   - reason: Why it cannot be used: one sentence.
    package init(_ info: ProviderInfo, reason: String) {
        self.info = info
        condition = ProviderCondition(state: .invalid, reason: reason, confinement: "")
    }

    /// - Parameters:
    ///   - id: Of the provider, or of its manifest if that is of no use.
    ///   - name: What a person calls it.
    ///   - reason: Why it cannot be used: one sentence.
    package init(id: String, name: String, reason: String) {
        self.init(
            ProviderInfo(
                id: id, name: name, iconName: "dialog-warning", authentication: .none,
                capabilities: [], defaultSource: SourceID("")), reason: reason)
    }

    package func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        UnusableSession(reason: condition.reason)
    }
}

/// The session of an account whose provider cannot be used: what was seen before is all there is.
final class UnusableSession: RemoteFeed {
    let events: AsyncStream<SessionEvent>
    private let continuation: AsyncStream<SessionEvent>.Continuation
    private let reason: String

    init(reason: String) {
        self.reason = reason
        (events, continuation) = AsyncStream.makeStream()
        continuation.yield(.status(.failed(reason: reason, remedy: nil)))
    }

    var showsEveryView: Bool { true }

    func close() { continuation.finish() }
    func accepts(_ source: SourceID) -> Bool { true }
    func sources() async throws -> [Source] { throw ProviderError.failed(reason) }
    func fetchPage(_ source: SourceID, from place: String?) async throws -> RemotePage {
        throw ProviderError.failed(reason)
    }
    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        throw ProviderError.failed(reason)
    }
}
