internal import Logging
internal import ProviderKit
internal import Synchronization
internal import Translation
internal import WebService

/// The session of a user at Unsplash.
///
/// It stores only the current user name, and the topics for an hour.
final class UnsplashSession: RemoteLikes, ProfileSession {
    let events: AsyncStream<SessionEvent>
    let likesSource = UnsplashSource.likes.id
    private let continuation: AsyncStream<SessionEvent>.Continuation
    private let client: Result<UnsplashClient, ProviderError>
    private let logger: Logger
    private let now: @Sendable () -> Timestamp
    /// The user name that the service sent in this session.
    private let knownUsername = Mutex<String?>(nil)
    private let knownTopics = Mutex<(sources: [Source], time: Timestamp)?>(nil)

    /// The maximum number of photos that the service returns at once.
    private static let photosPerPage = 30
    private static let topicsLifetime = Duration.seconds(3600)

    init(_ account: AccountIdentity, _ ports: SessionPorts) {
        (events, continuation) = AsyncStream.makeStream()
        logger = ports.logger
        now = ports.now
        client = Result { [continuation] () throws(ProviderError) in
            UnsplashClient(ports, try UnsplashSettings(ports.settings), events: continuation)
        }
        continuation.yield(.status(client.sessionStatus))
    }

    func close() { continuation.finish() }

    // MARK: Sources

    func accepts(_ source: SourceID) -> Bool { UnsplashSource(source) != nil }

    func sources() async throws -> [Source] {
        [
            // Translators: the photos that the editors of a service chose
            Source(id: UnsplashSource.editorial.id, title: Message("Editorial"), kind: .feed),
            Source(id: likesSource, title: Message("Liked photos"), kind: .likes),
        ] + (try await topics())
    }

    /// Returns the topics. If they cannot be fetched, returns the previous ones, or none.
    private func topics() async throws -> [Source] {
        let client = try client.get()
        let known = knownTopics.withLock { $0 }
        if let known, known.time <= now(), now() < known.time + Self.topicsLifetime {
            return known.sources
        }
        do {
            let query = [(name: "per_page", value: "\(Self.photosPerPage)")]
            let list: LenientList<ServiceRecord> = try client.decode(
                try await client.send(
                    .get, ["topics"], query, about: .other(Message("list the topics"))))
            let sources = list.elements.compactMap(client.mapping.source)
            let time = now()
            knownTopics.withLock { $0 = (sources, time) }
            return sources
        } catch let error as CancellationError {
            throw error
        } catch {
            logger.info("Cannot fetch the topics", metadata: ["error": "\(error)"])
            return known?.sources ?? []
        }
    }

    // MARK: Photos

    @concurrent
    func fetchPage(_ source: SourceID, from pageToken: String?) async throws -> RemotePage {
        let client = try client.get()
        guard let kind = UnsplashSource(source) else {
            throw ServiceDescription.unsplash.missing(source)
        }
        let token = try PageToken(pageToken)
        guard kind == .likes else { return try await fetchShiftedPage(kind, token, client) }
        let username = try await username(client)
        do {
            return try await fetchShiftedPage(kind, token, client, username: username.text)
        } catch ProviderError.notFound(let text) {
            // The user may have changed the user name.
            guard !username.isFresh, case let renamed = try await profile().username,
                renamed != username.text
            else { throw ProviderError.notFound(text) }
            return try await fetchShiftedPage(kind, token, client, username: renamed)
        }
    }

    /// Fetches a page at its current number: removals since the previous page was fetched have shifted it forward, and
    /// new photos have shifted it back.
    private func fetchShiftedPage(
        _ source: UnsplashSource, _ token: PageToken, _ client: UnsplashClient,
        username: String = ""
    ) async throws -> RemotePage {
        var page = try await fetchSinglePage(source, token.number, client, username)
        guard source.hasExactTotal, let total = page.total else { return page }
        for number in token.pagesToReread(total: total, perPage: Self.photosPerPage) {
            let previous = try await fetchSinglePage(source, number, client, username)
            page.photos = previous.photos + page.photos
        }
        guard source.growsAtTop,
            let next = token.shifted(total: total, perPage: Self.photosPerPage)
        else { return page }
        return try await fetchShiftedPage(source, next, client, username: username)
    }

    private func fetchSinglePage(
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
            let search: SearchRecord = try client.decode(response)
            list = search.photos
            total = total ?? search.total
        } else {
            list = try client.decode(response)
        }
        try ServiceDescription.unsplash.requireReadable(list, Message("a list without photos"))
        total = ServiceNumber.count(total)
        let next = PageToken(number: number)
            .next(links: response.headers.all("Link"), api: client.settings.api)
        return RemotePage(
            list.elements.compactMap { record in
                client.mapping.photo(record, isInLikes: source == .likes)
            },
            next: next.map { PageToken(number: $0, total: total).text }, total: total)
    }

    @concurrent
    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        let client = try client.get()
        guard id.isOfUnsplash else { throw ServiceDescription.unsplash.missing(id) }
        let response = try await client.send(.get, ["photos", id.text], about: .photo(id))
        let record: PhotoRecord = try client.decode(response)
        // `random`, and the slugs in page addresses, lead to photos with other IDs.
        guard record.id == id.text, let photo = client.mapping.photo(record) else {
            throw ServiceDescription.unsplash.missing(id)
        }
        return photo
    }

    func countDownload(_ photo: RemotePhoto) async throws {
        let client = try client.get()
        // The request has the credentials, so it is sent only to the API, regardless of the source of the note.
        guard let address = WebAddress(photo.note), address.origin == client.settings.api.origin
        else { return }
        _ = try await client.send(
            .get, url: address.text, about: .other(Message("count downloads")))
    }

    // MARK: Likes

    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int? {
        let client = try client.get()
        guard photo.isOfUnsplash else { throw ServiceDescription.unsplash.missing(photo) }
        let response = try await client.send(
            isLiked ? .post : .delete, ["photos", photo.text, "like"], about: .like(photo))
        // An HTML page comes from an intermediary.
        guard !response.isHTML else {
            throw ProviderError.otherLogin(ServiceDescription.unsplash.name)
        }
        // The status confirms the like; the body is optional.
        return response.record?.record("photo")?.count("likes")
    }

    // MARK: The user

    func profile() async throws -> Profile {
        let profile = try await client.get().currentUser()
        knownUsername.withLock { $0 = profile.username }
        return profile
    }

    /// Returns the current user name, by which likes are requested; the former name of a user may belong to another
    /// user. `isFresh` is true if the name was fetched in this call.
    private func username(_ client: UnsplashClient) async throws -> (text: String, isFresh: Bool) {
        if let known = knownUsername.withLock({ $0 }) { return (known, false) }
        return (try await profile().username, true)
    }
}
