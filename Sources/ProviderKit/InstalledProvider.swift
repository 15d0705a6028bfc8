package import Translation

/// A provider that is not part of the daemon.
package protocol InstalledProvider: Provider {
    /// The state and the sandbox of the provider.
    @MainActor var condition: ProviderCondition { get }

    /// The hosts that get the token of an account, and the program that requests them. A stored token is used only
    /// while this set equals the set at the login. Empty if there is no token.
    var tokenRecipients: Set<String> { get }
}

extension Provider {
    /// The provider as ``InstalledProvider``; nil if it is part of the daemon.
    ///
    /// This is a cast, because a public protocol cannot have a requirement that only this package sees.
    package var installed: (any InstalledProvider)? { self as? any InstalledProvider }

    /// Throws the reason if the provider cannot be used or was removed.
    @MainActor package func checkUsability() throws(ProviderError) {
        guard let unusable = self as? UnusableProvider else { return }
        throw .failed(unusable.condition.reason)
    }
}

/// The state of an installed provider.
package struct ProviderCondition: Hashable, Sendable {
    /// The state of the provider. The raw values are those of the D-Bus property `State`.
    package enum State: String, Sendable {
        case ready
        /// The manifest or the program cannot be used.
        case invalid
        /// The provider failed repeatedly and is not started until its files change.
        case disabled
    }

    /// The state.
    package var state: State
    /// One sentence; empty if the state is ``State/ready``.
    package var reason: Message
    /// The sandbox: `bubblewrap`, `landlock`, `none`, or empty if the provider cannot run.
    package var sandbox: String

    /// Creates a condition.
    package init(state: State, reason: Message, sandbox: String) {
        self.state = state
        self.reason = reason
        self.sandbox = sandbox
    }
}

/// A provider that cannot be used or was removed. Its accounts show cached photos only.
package struct UnusableProvider: InstalledProvider {
    /// The last known description of the provider.
    package let info: ProviderInfo
    package let condition: ProviderCondition
    package let tokenRecipients: Set<String> = []

    /// Creates a placeholder for a provider that was valid before.
    ///
    /// - Parameters:
    ///   - info: The last known description.
    ///   - reason: The reason for which the provider cannot be used: one sentence.
    package init(_ info: ProviderInfo, reason: Message) {
        self.info = info
        condition = ProviderCondition(state: .invalid, reason: reason, sandbox: "")
    }

    /// Creates a placeholder for a provider whose manifest is invalid.
    ///
    /// - Parameters:
    ///   - id: The ID of the provider, or the name of its manifest.
    ///   - name: The name to show.
    ///   - reason: The reason for which the provider cannot be used: one sentence.
    package init(id: String, name: String, reason: Message) {
        self.init(
            ProviderInfo(
                id: id, name: name, iconName: "dialog-warning", authentication: .none,
                capabilities: [], defaultSource: SourceID("")), reason: reason)
    }

    package func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        UnusableSession(reason: condition.reason)
    }
}

/// The session of an account whose provider cannot be used, and its client for images. Every request fails.
final class UnusableSession: RemoteImages, HTTPClient {
    let events: AsyncStream<SessionEvent>
    private let continuation: AsyncStream<SessionEvent>.Continuation
    private let reason: Message

    init(reason: Message) {
        self.reason = reason
        (events, continuation) = AsyncStream.makeStream()
        continuation.yield(.status(.failed(reason: reason, remedy: nil)))
    }

    var showsAllCacheVariants: Bool { true }

    func close() { continuation.finish() }
    func accepts(_ source: SourceID) -> Bool { true }
    func sources() async throws -> [Source] { throw ProviderError.failed(reason) }
    func fetchPage(_ source: SourceID, from pageToken: String?) async throws -> RemotePage {
        throw ProviderError.failed(reason)
    }
    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        throw ProviderError.failed(reason)
    }
    func imageAddress(_ photo: RemotePhoto, _ size: ImageSize) async throws -> String? {
        throw ProviderError.failed(reason)
    }
    var imageClient: any HTTPClient { self }

    // MARK: HTTPClient

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        throw ProviderError.failed(reason)
    }
    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse { throw ProviderError.failed(reason) }
}
