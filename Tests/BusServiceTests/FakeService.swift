import ProviderKit
import TestSupport

/// A remote service in memory with several users, whose photos and failures a test sets. Each page reports the rate limit.
final class FakeService: OAuthLogin {
    struct User: Sendable {
        /// The photos with their creation times, the newest first.
        var photos: [(id: String, created: Int64)] = []
        var liked: Set<String> = []
        /// The error of every request.
        var error: (any Error & Sendable)?
        /// The error of requests to like or unlike.
        var likeError: (any Error & Sendable)?
        /// True while requests have no response.
        var isHeld = false
        /// The number of photos per page.
        var pageSize = 30
        /// The sources of the requests for pages.
        var requests: [String] = []
    }

    let users = Observed<[String: User]>([:])
    let registrationHelp = "Register it."
    let info: ProviderInfo

    init(capabilities: [ProviderInfo.Capability] = [.feed, .like]) {
        info = ProviderInfo(
            id: "service", name: "Service", iconName: "image", authentication: .oauth2,
            capabilities: capabilities, defaultSource: SourceID("new"))
    }

    func update(_ user: String, _ change: (inout User) -> Void) {
        users.update { change(&$0[user, default: User()]) }
    }

    func oauth(_ settings: ProviderSettings) throws(ProviderError) -> OAuthDescription {
        var description = OAuthDescription(
            authorizationURL: "https://service.test/authorize",
            tokenURL: "https://service.test/token", scopes: ["public"],
            tokenOrigins: ["https://api.service.test"])
        description.countsPerApplication = false
        return description
    }

    func identify(_ ports: SessionPorts) async throws -> AccountIdentity {
        AccountIdentity(username: "ada")
    }

    func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        FakeServiceSession(account.username, users)
    }
}

private final class FakeServiceSession: RemoteLikes, ManualSession {
    let channel = AsyncStream<SessionEvent>.makeStream()
    let likesSource = SourceID("likes")
    private let user: String
    private let users: Observed<[String: FakeService.User]>

    init(_ user: String, _ users: Observed<[String: FakeService.User]>) {
        self.user = user
        self.users = users
    }

    func accepts(_ source: SourceID) -> Bool { ["new", "likes", "topic"].contains(source.text) }
    func sources() async throws -> [Source] { [] }

    func fetchPage(_ source: SourceID, from token: String?) async throws -> RemotePage {
        users.update { $0[user]?.requests.append(source.text) }
        let state = try await receive()
        let remaining = 1000 - state.requests.count
        continuation.yield(.rateLimit(RateLimit(remaining: remaining, limit: 1000)))
        let photos = state.photos.filter { source != likesSource || state.liked.contains($0.id) }
        let start = min(token.flatMap { Int($0) } ?? 0, photos.count)
        let end = min(start + state.pageSize, photos.count)
        return RemotePage(
            photos[start..<end].map { remote($0, state) }, next: end < photos.count ? "\(end)" : nil
        )
    }

    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        let state = try await receive()
        guard let photo = state.photos.first(where: { $0.id == id.text }) else {
            throw ProviderError.notFound("There is no photo \"\(id)\".")
        }
        return remote(photo, state)
    }

    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int? {
        if let error = try await receive().likeError { throw error }
        users.update { users in
            if isLiked {
                users[user]?.liked.insert(photo.text)
            } else {
                users[user]?.liked.remove(photo.text)
            }
        }
        return isLiked ? 1 : 0
    }

    private func receive() async throws -> FakeService.User {
        let user = user
        let state = try await users.wait { users in users[user].flatMap { $0.isHeld ? nil : $0 } }
        if let error = state.error { throw error }
        return state
    }

    private func remote(
        _ photo: (id: String, created: Int64), _ state: FakeService.User
    ) -> RemotePhoto {
        var made = Photo(id: PhotoID(photo.id))
        made.created = Timestamp(secondsSince1970: photo.created)
        made.isLiked = state.liked.contains(photo.id)
        return RemotePhoto(made)
    }
}
