internal import Logging
internal import ProviderKit
internal import Quoting
internal import Synchronization

/// A user of Unsplash who is logged in.
///
/// Only asks and translates. What it keeps is the name that the user has now, and the topics for an hour.
final class UnsplashSession: RemoteLikes, ProfileSession {
    let events: AsyncStream<SessionEvent>
    let likesSource = UnsplashSource.likes.id
    private let continuation: AsyncStream<SessionEvent>.Continuation
    private let client: Result<UnsplashClient, ProviderError>
    private let logger: Logger?
    private let now: @Sendable () -> Timestamp
    private let kept = Mutex(Kept())

    private struct Kept {
        /// As the service told in this session.
        var username: String?
        var topics: (sources: [Source], time: Timestamp)?
    }

    /// As many as the service gives at once.
    private static let photosPerPage = 30
    private static let topicsLifetime = Duration.seconds(3600)

    init(
        _ account: AccountIdentity, _ ports: SessionPorts, now: @escaping @Sendable () -> Timestamp
    ) {
        (events, continuation) = AsyncStream.makeStream()
        logger = ports.logger
        self.now = now
        do throws(ProviderError) {
            let settings = try UnsplashSettings(ports.settings)
            let continuation = continuation
            client = .success(
                UnsplashClient(ports, settings, now: now) { continuation.yield(.rateLimit($0)) })
            continuation.yield(.status(.ready))
        } catch {
            client = .failure(error)
            continuation.yield(.status(.failed(reason: Self.reason(error), remedy: .configure)))
        }
    }

    /// Makes a session that throws the error whatever it is asked.
    init(failing error: ProviderError) {
        (events, continuation) = AsyncStream.makeStream()
        logger = nil
        now = { .now }
        client = .failure(error)
        continuation.yield(.status(.failed(reason: Self.reason(error), remedy: .configure)))
    }

    func close() { continuation.finish() }

    private static func reason(_ error: ProviderError) -> String {
        switch error {
        case .notConfigured(let text), .notSupported(let text): text
        default: "Unsplash cannot be asked."
        }
    }

    // MARK: Sources

    func accepts(_ source: SourceID) -> Bool { UnsplashSource(source) != nil }

    func sources() async throws -> [Source] {
        [
            Source(id: UnsplashSource.editorial.id, title: "Editorial", kind: .feed),
            Source(id: likesSource, title: "Liked photos", kind: .likes),
        ] + (try await topics())
    }

    /// The topics; those of before, or none, where they cannot be had.
    private func topics() async throws -> [Source] {
        let client = try client.get()
        let known = kept.withLock { $0.topics }
        if let known, known.time <= now(), now() < known.time + Self.topicsLifetime {
            return known.sources
        }
        do {
            let query = [(name: "per_page", value: "\(Self.photosPerPage)")]
            let list = try client.decode(
                LenientList<TopicRecord>.self,
                try await client.send(.get, ["topics"], query, about: .topics))
            let sources = list.elements.compactMap(\.source)
            let time = now()
            kept.withLock { $0.topics = (sources, time) }
            return sources
        } catch let error as CancellationError {
            throw error
        } catch {
            logger?.info("The topics cannot be had", metadata: ["error": "\(error)"])
            return known?.sources ?? []
        }
    }

    // MARK: Photos

    func fetchPage(_ source: SourceID, from place: String?) async throws -> RemotePage {
        let client = try client.get()
        guard let kind = UnsplashSource(source) else {
            throw ProviderError.notFound("There is no source \(source.text.quoted) at Unsplash.")
        }
        let place = try PageToken(place)
        guard kind == .likes else { return try await walk(kind, place, client) }
        let username = try await username(client)
        do {
            return try await walk(kind, place, client, username: username.text)
        } catch ProviderError.notFound(let text) {
            // Users may give themselves another name.
            guard !username.isFresh, case let renamed = try await profile().username,
                renamed != username.text
            else { throw ProviderError.notFound(text) }
            return try await walk(kind, place, client, username: renamed)
        }
    }

    /// A page, where it is by now: what has left the source since the page before was read has moved it up, and
    /// what has arrived at the top has moved it down.
    private func walk(
        _ source: UnsplashSource, _ place: PageToken, _ client: UnsplashClient,
        username: String = ""
    ) async throws -> RemotePage {
        var page = try await read(source, place.number, client, username)
        guard source.hasExactTotal, let total = page.total else { return page }
        for number in place.before(total: total, perPage: Self.photosPerPage) {
            let missed = try await read(source, number, client, username)
            page.photos = missed.photos + page.photos
        }
        guard source.growsAtTop,
            let next = place.after(total: total, perPage: Self.photosPerPage)
        else { return page }
        return try await walk(source, next, client, username: username)
    }

    private func read(
        _ source: UnsplashSource, _ number: Int, _ client: UnsplashClient, _ username: String
    ) async throws -> RemotePage {
        let (path, query) = source.request(username: username)
        let response = try await client.send(
            .get, path,
            query + [("page", "\(number)"), ("per_page", "\(Self.photosPerPage)")],
            about: .source(source.id))
        let list: LenientList<PhotoRecord>
        var total = response.headers["X-Total"].flatMap { Int($0) }
        if case .search = source {
            let search = try client.decode(SearchRecord.self, response)
            list = search.photos
            total = total ?? search.total
        } else {
            list = try client.decode(LenientList<PhotoRecord>.self, response)
        }
        guard !list.isNonsense else { throw Refusal.nonsense("a list without photos") }
        total = ModelMapping.count(total)
        let next = PageToken(number: number)
            .next(links: response.headers.all("Link"), api: client.settings.api)
        return RemotePage(
            list.elements.compactMap { record in
                client.translation.photo(record, isOfLikes: source == .likes)
            },
            next: next.map { PageToken(number: $0, total: total).text }, total: total)
    }

    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        let client = try client.get()
        let missing = ProviderError.notFound("There is no photo \(id.text.quoted) at Unsplash.")
        guard id.isOfUnsplash else { throw missing }
        let response = try await client.send(.get, ["photos", id.text], about: .photo(id))
        let record = try client.decode(PhotoRecord.self, response)
        // Under `random`, and under the names in addresses of pages, there are photos of other ids.
        guard record.id == id.text, let photo = client.translation.photo(record) else {
            throw missing
        }
        return photo
    }

    func countDownload(_ photo: RemotePhoto) async throws {
        let client = try client.get()
        // Its credentials go along, and so it goes to the API alone, wherever the note came from.
        guard let address = WebAddress(photo.note), address.origin == client.settings.api.origin
        else { return }
        _ = try await client.send(.get, url: address.text, about: .download)
    }

    // MARK: Likes

    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int? {
        let client = try client.get()
        guard photo.isOfUnsplash else {
            throw ProviderError.notFound("There is no photo \(photo.text.quoted) at Unsplash.")
        }
        let response = try await client.send(
            isLiked ? .post : .delete, ["photos", photo.text, "like"], about: .like(photo))
        // A page for people comes from somebody in between.
        guard !response.isPage else {
            throw Refusal.nonsense("a page for people")
        }
        // It is done, whatever the answer says.
        let record = try? client.decode(LikeRecord.self, response)
        return ModelMapping.count(record?.likes)
    }

    // MARK: The user

    func profile() async throws -> Profile {
        let profile = try await client.get().me()
        kept.withLock { $0.username = profile.username }
        return profile
    }

    /// The name that the user has now: likes are found under it, and under an old one may be somebody
    /// else's. `isFresh` says whether the service was asked just now.
    private func username(_ client: UnsplashClient) async throws -> (text: String, isFresh: Bool) {
        if let known = kept.withLock({ $0.username }) { return (known, false) }
        return (try await profile().username, true)
    }
}
