import ProviderKit
import TestSupport

/// A provider with a set of user names, whose logins a test can hold.
final class FakeProvider: PasswordLogin {
    let info = ProviderInfo(
        id: "fake", name: "Fake", iconName: "image", authentication: .password,
        capabilities: [.feed, .register], defaultSource: SourceID("all"))
    let users = Observed<Set<String>>([])
    /// The number of deletions of users.
    let removals = Observed(0)
    /// True if logins may continue.
    let isOpen = Observed(true)
    /// All sessions, in the order of their creation.
    let sessions = Observed<[FakeSession]>()

    func check(_ request: PasswordLoginRequest) throws(ProviderError) {
        if request.username.isEmpty { throw .invalidArgument("A name is needed.") }
    }

    func logIn(_ request: PasswordLoginRequest) async throws -> AccountIdentity {
        // Not cancelled with the login: a service may respond too late.
        try await Task { _ = try await isOpen.wait { $0 ? true : nil } }.value
        if request.registers { users.update { $0.insert(request.username) } }
        guard users.value.contains(request.username) else {
            throw ProviderError.noSuchUser("There is no user \(request.username).")
        }
        return AccountIdentity(username: request.username)
    }

    func removeUser(_ account: AccountIdentity) async throws {
        users.update { $0.remove(account.username) }
        removals.update { $0 += 1 }
    }

    func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        let session = FakeSession()
        sessions.append(session)
        return session
    }
}

/// A session whose events are sent by a test.
final class FakeSession: FeedSession {
    let events: AsyncStream<SessionEvent>
    let continuation: AsyncStream<SessionEvent>.Continuation
    let isClosed = Observed(false)

    init() { (events, continuation) = AsyncStream.makeStream() }

    func close() {
        isClosed.update { $0 = true }
        continuation.finish()
    }

    func page(_ source: SourceID, after cursor: String?, count: Int) async throws -> Page {
        Page(photos: [Photo(id: PhotoID(cursor ?? "first"))], next: cursor == nil ? "second" : nil)
    }

    func photo(_ id: PhotoID) async throws -> Photo { Photo(id: id) }
    func sources() async throws -> [Source] { [] }
    func hasSource(_ id: SourceID) async throws -> Bool { id.text == "other" || id.text == "all" }
    func refresh(_ source: SourceID) async throws -> Int { 0 }
}
