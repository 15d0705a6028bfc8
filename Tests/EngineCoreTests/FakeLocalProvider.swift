import EngineModel
import ProviderKit
import TestSupport

/// A provider that stores its users, their likes and avatars itself.
final class FakeLocalProvider: FolderProvider {
    struct State: Sendable {
        var sources: Set<String> = ["all", "likes", "memories", "album:x"]
        var liked: Set<String> = []
        /// The file of each user's avatar.
        var avatars: [String: String] = [:]
        /// The users that were removed. Their passwords are still accepted, as in a login that overlaps the removal.
        var removed: Set<String> = []
        /// True if the removal of a user fails.
        var keepsUsers = false
        /// True if no thumbnail can be stored.
        var isDiskFull = false
    }

    let state = Observed(State())
    let sessions = Observed<[FakeLocalSession]>()
    let info = ProviderInfo(
        id: "home", name: "Home", iconName: "image", authentication: .password,
        capabilities: [.feed, .like, .avatar, .register], defaultSource: SourceID("all"))

    func check(username: String) throws(ProviderError) {}

    func logIn(
        username: String, password: Secret?, registers: Bool
    ) async throws -> AccountIdentity {
        if let password {
            let isRight = password.withBytes { $0.elementsEqual("geheim".utf8) }
            guard isRight else { throw ProviderError.wrongPassword("No.") }
        }
        return AccountIdentity(username: username)
    }

    func checkUser(_ account: AccountIdentity) async throws {
        guard !state.value.removed.contains(account.username) else {
            throw ProviderError.noSuchUser("There is no such user.")
        }
    }

    func removeUser(_ account: AccountIdentity) async throws {
        guard !state.value.keepsUsers else { throw ProviderError.failed("The user remains.") }
        state.update { $0.removed.insert(account.username) }
    }

    func openFolder(_ account: AccountIdentity) -> any FolderSession {
        let session = FakeLocalSession(self, account)
        sessions.append(session)
        return session
    }

    func profile(of account: AccountIdentity) async throws -> Profile {
        var profile = Profile(username: account.username, name: account.username)
        profile.avatar = state.value.avatars[account.username] ?? ""
        return profile
    }
}

/// A session on the state of its provider.
final class FakeLocalSession: FakeFolderSession {
    let channel = AsyncStream<SessionEvent>.makeStream()
    /// True while the source that depends on the date is watched.
    let isWatched = Observed(false)
    /// The number of checks of the date that the engine has requested.
    let dateChecks = Observed(0)
    private let provider: FakeLocalProvider
    private let account: AccountIdentity

    init(_ provider: FakeLocalProvider, _ account: AccountIdentity) {
        self.provider = provider
        self.account = account
    }

    func page(_ source: SourceID, after cursor: String?, count: Int) async throws -> Page {
        guard try await hasSource(source) else { throw ProviderError.notFound("It is gone.") }
        return Page(
            photos: [Photo(id: PhotoID(source.text))], hasMore: cursor == nil
        ) { $0 == 0 ? cursor : "2" }
    }

    func photo(_ id: PhotoID) async throws -> Photo {
        guard id.text != "none" else { throw ProviderError.notFound("There is none.") }
        var photo = Photo(id: id)
        photo.isLiked = provider.state.value.liked.contains(id.text)
        return photo
    }

    func setWatched(_ isWatched: Bool) { self.isWatched.update { $0 = isWatched } }

    func clockChanged() { dateChecks.update { $0 += 1 } }

    func hasSource(_ id: SourceID) async throws -> Bool {
        provider.state.value.sources.contains(id.text)
    }

    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> (photo: Photo, count: Int)? {
        var now = try await self.photo(photo)
        // Lets concurrent calls run between the read and the write.
        await Task.yield()
        guard now.isLiked != isLiked else { return nil }
        now.isLiked = isLiked
        provider.state.update { state in
            if isLiked { state.liked.insert(photo.text) } else { state.liked.remove(photo.text) }
        }
        return (photo: now, count: provider.state.value.liked.count)
    }

    func imagePath(_ photo: PhotoID, _ size: ImageSize) async throws -> String {
        if provider.state.value.isDiskFull { throw ProviderError.storageFull }
        return "/\(account.username)/\(photo)/\(size.rawValue)"
    }

    func setAvatar(_ file: String) async throws {
        provider.state.update { $0.avatars[account.username] = file }
    }
}
