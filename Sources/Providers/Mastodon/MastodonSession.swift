internal import ProviderKit
internal import Quoting
internal import Synchronization

/// A user of a server who is logged in.
///
/// Only asks and translates. What it keeps is what the server is, and the numbers of users that were asked for.
final class MastodonSession: RemoteLikes, ProfileSession {
    let events: AsyncStream<SessionEvent>
    let likesSource = MastodonSource.likes.id
    let view: String
    private let continuation: AsyncStream<SessionEvent>.Continuation
    private let client: Result<MastodonClient, ProviderError>
    private let now: @Sendable () -> Timestamp
    private let kept = Mutex(Kept())

    private struct Kept {
        var dialect: Dialect?
        var userIDs: [String: String] = [:]
    }

    /// As many statuses as servers give at once.
    private static let statusesPerPage = 40
    /// How often a server is asked for one page of photos, as long as there are none.
    static let requestLimit = 5
    /// How long it is asked on.
    static let patience = Duration.seconds(8)
    /// How many numbers of users are kept.
    private static let maximumUserIDs = 256

    init(
        _ account: AccountIdentity, _ ports: SessionPorts, now: @escaping @Sendable () -> Timestamp
    ) {
        (events, continuation) = AsyncStream.makeStream()
        self.now = now
        do throws(ProviderError) {
            let continuation = continuation
            let client = try MastodonClient(account.server, ports, now: now) {
                continuation.yield(.rateLimit($0))
            }
            self.client = .success(client)
            view = client.settings.showsSensitive ? "sensitive" : ""
            continuation.yield(.status(.ready))
        } catch {
            client = .failure(error)
            view = ""
            continuation.yield(.status(.failed(reason: "\(error)", remedy: .configure)))
        }
    }

    func close() { continuation.finish() }

    // MARK: Sources

    func accepts(_ source: SourceID) -> Bool { MastodonSource(source) != nil }

    func sources() async throws -> [Source] {
        let client = try client.get()
        return [
            Source(id: MastodonSource.home.id, title: "Home", kind: .feed),
            Source(id: MastodonSource.local.id, title: "On \(client.server)", kind: .feed),
            Source(id: MastodonSource.public.id, title: "On all servers", kind: .feed),
            Source(id: likesSource, title: "Liked photos", kind: .likes),
        ]
    }

    // MARK: Photos

    /// A place names the status that comes before it.
    var hasStablePageTokens: Bool { true }

    /// Most statuses have no photo: it asks on until there is one, within bounds.
    func fetchPage(_ source: SourceID, from place: String?) async throws -> RemotePage {
        let client = try client.get()
        guard let kind = MastodonSource(source) else {
            throw ProviderError.notFound(
                "There is no source \(source.text.quoted) at \(client.server).")
        }
        let (path, query) = try await request(kind, client)
        var place = try place.map { (text) throws(ProviderError) in try PageToken(text) }
        let start = now()
        var asked = 0
        while true {
            let page = try await read(kind, path, place?.fields ?? query, client)
            asked += 1
            guard page.photos.isEmpty, let next = page.next, next != place,
                asked < Self.requestLimit, now() < start + Self.patience
            else {
                // Round in circles there is nothing more.
                let next = page.next == place ? nil : page.next
                return RemotePage(
                    page.photos, next: next?.text, end: next == nil ? nil : page.end)
            }
            place = next
        }
    }

    /// What a source is asked for with.
    ///
    /// - Returns: The segments of the path and the parameters, neither escaped.
    private func request(
        _ source: MastodonSource, _ client: MastodonClient
    ) async throws -> (path: [String], query: [(name: String, value: String)]) {
        let limit = (name: "limit", value: "\(Self.statusesPerPage)")
        let onlyMedia = (name: "only_media", value: "true")
        switch source {
        case .home: return (["timelines", "home"], [limit])
        case .local:
            return (["timelines", "public"], [limit, onlyMedia, ("local", "true")])
        case .public:
            // There it is the server alone that is shown if nothing is said; here "remote" shows all but it.
            let isPixelfed = try await dialect(client) == .pixelfed
            return (
                ["timelines", "public"],
                [limit, onlyMedia] + (isPixelfed ? [("remote", "true")] : [])
            )
        case .likes: return (["favourites"], [limit])
        case .tag(let name):
            let name = name.hasPrefix("#") ? String(name.dropFirst()) : name
            return (["timelines", "tag", name], [limit, onlyMedia])
        case .user(let name):
            let id = try await userID(name, source.id, client)
            return (
                ["accounts", id, "statuses"], [limit, onlyMedia, ("exclude_reblogs", "true")]
            )
        }
    }

    private struct StatusPage {
        var photos: [RemotePhoto] = []
        var next: PageToken?
        /// The key of the last status.
        var end: String?
    }

    private func read(
        _ source: MastodonSource, _ path: [String], _ query: [(name: String, value: String)],
        _ client: MastodonClient
    ) async throws -> StatusPage {
        let response = try await client.send(.get, path, query, about: .source(source.id))
        let list = try client.decode(LenientList<StatusRecord>.self, response)
        guard !list.isNonsense else {
            throw Refusal.nonsense("a list without statuses", client.server)
        }
        var next = PageToken(links: response.headers.all("Link"))
        if source == .likes { next = Self.nextLikes(list.elements, query) ?? next }
        // "Partial content": the server is still putting the feed together.
        if response.status == 206, next == nil || list.elements.isEmpty {
            throw ProviderError.failed(
                "\(client.server) is still putting this feed together; try again in a minute.")
        }
        // Likes are ordered by numbers that the server does not tell.
        let hasKeys = source != .likes
        return StatusPage(
            photos: list.elements.flatMap { status in
                var photos = client.translation.photos(status, isOfLikes: !hasKeys)
                for index in photos.indices where hasKeys {
                    photos[index].entry = Self.key(status)
                }
                return photos
            },
            next: list.elements.isEmpty ? nil : next,
            end: hasKeys ? list.elements.last.flatMap(Self.key) : nil)
    }

    /// The key of a status in a timeline: its id. A boost is a status of its own. Timelines are ordered by the length of
    /// the ids, and then byte by byte.
    private static func key(_ status: StatusRecord) -> String? {
        guard StatusPhotoID(status: status.id, attachment: status.id) != nil else { return nil }
        let length = status.id.utf8.count
        return (length < 10 ? "0" : "") + "\(length)\(status.id)"
    }

    /// Where Pixelfed's likes go on: the place that it names itself leads back to the top (0.11), but it tells the
    /// numbers of likes.
    private static func nextLikes(
        _ statuses: [StatusRecord], _ query: [(name: String, value: String)]
    ) -> PageToken? {
        guard let last = statuses.compactMap(\.likeNumber).min() else { return nil }
        return PageToken(
            fields: query.filter { $0.name != "max_id" } + [("max_id", "\(last)")])
    }

    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        let client = try client.get()
        let missing = ProviderError.notFound(
            "There is no photo \(id.text.quoted) at \(client.server).")
        guard let part = StatusPhotoID(id) else { throw missing }
        let response = try await client.send(.get, ["statuses", part.status], about: .photo(id))
        let status = try client.decode(StatusRecord.self, response)
        let photos = client.translation.allPhotos(status)
        guard let photo = photos.first(where: { $0.photo.id == id }) else { throw missing }
        return photo
    }

    // MARK: Likes

    func likedTogether(_ photo: PhotoID) -> String? { StatusPhotoID(photo)?.beginning }

    /// Favourites the status. The number of favourites in the answer is not taken over: Pixelfed counts
    /// every time that it is asked, and Mastodon takes one back only later.
    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int? {
        let client = try client.get()
        guard let part = StatusPhotoID(photo) else {
            throw ProviderError.notFound(
                "There is no photo \(photo.text.quoted) at \(client.server).")
        }
        let action = isLiked ? "favourite" : "unfavourite"
        _ = try await client.send(.post, ["statuses", part.status, action], about: .like(photo))
        return nil
    }

    // MARK: Users

    func profile() async throws -> Profile { try await client.get().me() }

    private func dialect(_ client: MastodonClient) async throws -> Dialect {
        if let known = kept.withLock({ $0.dialect }) { return known }
        let dialect = try await client.dialect()
        kept.withLock { $0.dialect = dialect }
        return dialect
    }

    /// What statuses of a user are asked for by.
    private func userID(
        _ name: String, _ source: SourceID, _ client: MastodonClient
    ) async throws -> String {
        let name = name.hasPrefix("@") ? String(name.dropFirst()) : name
        if let known = kept.withLock({ $0.userIDs[name] }) { return known }
        let response = try await client.send(
            .get, ["accounts", "lookup"], [("acct", name)], about: .source(source))
        guard let id = try client.decode(AccountRecord.self, response).id, !id.isEmpty else {
            throw Refusal.nonsense("a user without an id", client.server)
        }
        kept.withLock { kept in
            if kept.userIDs.count >= Self.maximumUserIDs { kept.userIDs = [:] }
            kept.userIDs[name] = id
        }
        return id
    }
}
