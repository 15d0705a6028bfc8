import EngineModel
import ProviderKit
import TestSupport

/// A provider with a set of user names, whose logins a test can hold.
final class FakeProvider: FolderProvider {
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

    func check(username: String) throws(ProviderError) {
        if username.isEmpty { throw .invalidArgument("A name is needed.") }
    }

    func logIn(
        username: String, password: Secret?, registers: Bool
    ) async throws -> AccountIdentity {
        // Not cancelled with the login: a service may respond too late.
        try await Task { _ = try await isOpen.wait { $0 ? true : nil } }.value
        if registers { users.update { $0.insert(username) } }
        let identity = AccountIdentity(username: username)
        try await checkUser(identity)
        return identity
    }

    func checkUser(_ account: AccountIdentity) async throws {
        guard users.value.contains(account.username) else {
            throw ProviderError.noSuchUser("There is no user \(account.username).")
        }
    }

    func removeUser(_ account: AccountIdentity) async throws {
        users.update { $0.remove(account.username) }
        removals.update { $0 += 1 }
    }

    func openFolder(_ account: AccountIdentity) -> any FolderSession {
        let session = FakeSession()
        sessions.append(session)
        return session
    }
}

/// A session whose events are sent by a test.
final class FakeSession: FakeFolderSession {
    let channel = AsyncStream<SessionEvent>.makeStream()
    let isClosed = Observed(false)

    func close() {
        isClosed.update { $0 = true }
        continuation.finish()
    }

    func page(_ source: SourceID, after cursor: String?, count: Int) async throws -> Page {
        Page(
            photos: [Photo(id: PhotoID(cursor ?? "first"))], hasMore: cursor == nil
        ) { $0 == 0 ? cursor : "second" }
    }

    func photo(_ id: PhotoID) async throws -> Photo { Photo(id: id) }
    func hasSource(_ id: SourceID) async throws -> Bool { id.text == "other" || id.text == "all" }
}

/// A session whose features are replaced by a test as far as it needs them.
protocol FakeFolderSession: FolderSession, ManualSession {}

extension FakeFolderSession {
    var likesSource: SourceID { SourceID("likes") }
    var datedSource: SourceID { SourceID("memories") }
    func sources() async throws -> [Source] { [] }
    func refresh(_ source: SourceID) async throws -> Int { 0 }
    func imagePath(_ photo: PhotoID, _ size: ImageSize) async throws -> String {
        throw ProviderError.notFound("There is no image.")
    }
    func openImage(_ photo: PhotoID, _ size: ImageSize) async throws -> Int32 { -1 }
    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> (photo: Photo, count: Int)? {
        nil
    }
    func setAvatar(_ file: String) async throws {}
    func setWatched(_ isWatched: Bool) {}
    var hasUnreportedFolders: Bool { false }
    func refreshUnreported() async {}
    func clockChanged() {}
    func setMarked(_ photos: Set<PhotoID>, _ mark: PhotoMark) async throws {}
}

extension FolderProvider {
    func profile(of account: AccountIdentity) async throws -> Profile {
        Profile(username: account.username, name: account.username)
    }
}
