import ProviderKit
import TestSupport

/// A remote service in memory that reports its rate limit with each response.
final class FeedService: OAuthLogin {
    struct State: Sendable {
        /// The photos, newest first.
        var photos: [String] = []
        /// The number of photos per page.
        var pageSize = 100
        /// The sources that were requested.
        var requests: [String] = []
        var remaining = 1000
    }

    let state = Observed(State())
    let registrationHelp = "Register it."
    let info = ProviderInfo(
        id: "service", name: "Service", iconName: "image", authentication: .oauth2,
        capabilities: [.feed], defaultSource: SourceID("new"))

    func oauth(_ settings: ProviderSettings) throws(ProviderError) -> OAuthDescription {
        OAuthDescription(
            authorizationURL: "https://service.test/authorize",
            tokenURL: "https://service.test/token", scopes: ["public"],
            tokenOrigins: ["https://api.service.test"])
    }

    func identify(_ ports: SessionPorts) async throws -> AccountIdentity {
        AccountIdentity(username: "ada")
    }

    func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        FeedServiceSession(state)
    }
}

private final class FeedServiceSession: RemoteFeed {
    let events: AsyncStream<SessionEvent>
    private let state: Observed<FeedService.State>
    private let continuation: AsyncStream<SessionEvent>.Continuation

    init(_ state: Observed<FeedService.State>) {
        self.state = state
        (events, continuation) = AsyncStream.makeStream()
    }

    func close() { continuation.finish() }
    func accepts(_ source: SourceID) -> Bool { true }
    func sources() async throws -> [Source] { [] }

    func fetchPage(_ source: SourceID, from token: String?) async throws -> RemotePage {
        state.update { state in
            state.requests.append(source.text)
            state.remaining -= 1
        }
        continuation.yield(.rateLimit(RateLimit(remaining: state.value.remaining, limit: 1000)))
        let (photos, pageSize) = (state.value.photos, state.value.pageSize)
        let start = min(token.flatMap { Int($0) } ?? 0, photos.count)
        let end = min(start + pageSize, photos.count)
        return RemotePage(
            photos[start..<end].map { RemotePhoto(Photo(id: PhotoID($0))) },
            next: end < photos.count ? "\(end)" : nil)
    }

    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        throw ProviderError.notFound("No \(id).")
    }
}
