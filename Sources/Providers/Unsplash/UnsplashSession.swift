internal import Logging
internal import ProviderKit
internal import Synchronization
internal import Translation
internal import WebService

/// The session of a user at Unsplash.
///
/// It stores only the current user name, and the topics for an hour.
final class UnsplashSession: ServiceSession, RemoteLikes {
    let connection: ServiceConnection<UnsplashClient>
    let likesSource = UnsplashKind.likes.id
    let listsLatestLikesFirst = true
    /// The user name that the service sent in this session.
    private let knownUsername = Mutex<String?>(nil)
    private let knownTopics: TimedCache<[Source]>

    /// The maximum number of photos that the service returns at once.
    private static let photosPerPage = 30

    init(_ ports: SessionPorts) {
        knownTopics = TimedCache(.seconds(3600), now: ports.now)
        connection = ServiceConnection { (events) throws(ProviderError) in
            try UnsplashClient(ports, events: events)
        }
    }

    // MARK: Sources

    func accepts(_ source: SourceID) -> Bool { UnsplashSource(source) != nil }

    func sources() async throws -> [Source] {
        [
            // Translators: the photos that the editors of a service chose
            Source(id: UnsplashKind.editorial.id, title: Message("Editorial"), kind: .feed),
            Source(id: likesSource, title: Message("Liked photos"), kind: .likes),
        ] + (try await topics())
    }

    /// Returns the topics. If they cannot be fetched, returns the previous ones, or none.
    private func topics() async throws -> [Source] {
        let client = try client
        do {
            return try await knownTopics.value {
                let query = [(name: "per_page", value: "\(Self.photosPerPage)")]
                let list: LenientList<ServiceRecord> = try client.decode(
                    try await client.send(
                        .get, ["topics"], query, about: .other(Message("list the topics"))))
                return list.elements.compactMap(client.mapping.source)
            }
        } catch let error as CancellationError {
            throw error
        } catch {
            client.ports.logger.info("Cannot fetch the topics", metadata: ["error": "\(error)"])
            return knownTopics.latest ?? []
        }
    }

    // MARK: Photos

    @concurrent
    func fetchPage(_ source: SourceID, from pageToken: String?) async throws -> RemotePage {
        let client = try client
        guard let source = UnsplashSource(source) else { throw client.service.missing(source) }
        let token = try PageToken(pageToken)
        guard source.kind == .likes else { return try await fetchShiftedPage(source, token) }
        let username = try await username()
        do {
            return try await fetchShiftedPage(source, token, username: username.text)
        } catch ProviderError.notFound(let text) {
            // The user may have changed the user name.
            guard !username.isFresh, case let renamed = try await profile().username,
                renamed != username.text
            else { throw ProviderError.notFound(text) }
            return try await fetchShiftedPage(source, token, username: renamed)
        }
    }

    /// Fetches a page at its current number: removals since the previous page was fetched have shifted it forward, and
    /// new photos have shifted it back.
    private func fetchShiftedPage(
        _ source: UnsplashSource, _ token: PageToken, username: String = ""
    ) async throws -> RemotePage {
        var page = try await fetchSinglePage(source, token.number, username)
        guard source.kind.hasExactTotal, let total = page.total else { return page }
        for number in token.pagesToReread(total: total, perPage: Self.photosPerPage) {
            let previous = try await fetchSinglePage(source, number, username)
            page.photos = previous.photos + page.photos
        }
        guard source.kind.growsAtTop,
            let next = token.shifted(total: total, perPage: Self.photosPerPage)
        else { return page }
        return try await fetchShiftedPage(source, next, username: username)
    }

    private func fetchSinglePage(
        _ source: UnsplashSource, _ number: Int, _ username: String
    ) async throws -> RemotePage {
        let client = try client
        let (path, query) = source.request(username: username)
        let response = try await client.send(
            .get, path,
            query + [("page", "\(number)"), ("per_page", "\(Self.photosPerPage)")],
            about: .source(source.id))
        let list: LenientList<PhotoRecord>
        var total = response.headers["X-Total"].flatMap { Int($0) }
        if source.kind == .search {
            guard let search = response.record,
                let photos: LenientList<PhotoRecord> = search.value("results")
            else { throw client.unreadable(response) }
            list = photos
            total = total ?? search.integer("total")
        } else {
            list = try client.decode(response)
        }
        try client.service.requireReadable(list, Message("a list without photos"))
        total = ServiceNumber.count(total)
        let next = PageToken(number: number)
            .next(links: response.headers.all("Link"), api: client.settings.api)
        return RemotePage(
            list.elements.compactMap { record in
                client.mapping.photo(record, isInLikes: source.kind == .likes)
            },
            next: next.map { PageToken(number: $0, total: total).text }, total: total)
    }

    @concurrent
    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        let client = try client
        guard id.isOfUnsplash else { throw client.service.missing(id) }
        let response = try await client.send(.get, ["photos", id.text], about: .photo(id))
        let record: PhotoRecord = try client.decode(response)
        // `random`, and the slugs in page addresses, lead to photos with other IDs.
        guard record.id == id.text, let photo = client.mapping.photo(record) else {
            throw client.service.missing(id)
        }
        return photo
    }

    func countDownload(_ photo: RemotePhoto) async throws {
        let client = try client
        // The request has the credentials, so it is sent only to the API, regardless of the source of the note.
        guard let address = WebAddress(photo.note), address.origin == client.settings.api.origin
        else { return }
        _ = try await client.send(
            .get, url: address.text, about: .other(Message("count downloads")))
    }

    // MARK: Likes

    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int? {
        let client = try client
        guard photo.isOfUnsplash else { throw client.service.missing(photo) }
        let response = try await client.send(
            isLiked ? .post : .delete, ["photos", photo.text, "like"], about: .like(photo))
        // An HTML page comes from an intermediary.
        guard !response.isHTML else { throw ProviderError.otherLogin(client.service.name) }
        // The status confirms the like; the body is optional.
        return response.record?.record("photo")?.count("likes")
    }

    // MARK: The user

    func profile() async throws -> Profile {
        let profile = try await client.profile()
        knownUsername.withLock { $0 = profile.username }
        return profile
    }

    /// Returns the current user name, by which likes are requested; the former name of a user may belong to another
    /// user. `isFresh` is true if the name was fetched in this call.
    private func username() async throws -> (text: String, isFresh: Bool) {
        if let known = knownUsername.withLock({ $0 }) { return (known, false) }
        return (try await profile().username, true)
    }
}
