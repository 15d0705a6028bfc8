internal import ProviderKit
internal import Synchronization
internal import Translation
internal import WebService

/// The session of a user at a server.
///
/// It stores only the dialect of the server and the IDs of users whose statuses were requested.
final class MastodonSession: ServiceSession, RemoteLikes {
    private typealias Fields = [(name: String, value: String)]

    let connection: ServiceConnection<MastodonClient>
    let likesSource = MastodonKind.likes.id
    let listsLatestLikesFirst = true
    let cacheVariant: String
    private let knownDialect: TimedCache<Dialect>
    /// True if the last response for the top of the home timeline was empty, and not complete.
    private let isPreparing = Mutex(false)
    private let userIDs = Mutex<[String: String]>([:])

    /// The maximum number of statuses that servers return at once.
    private static let statusesPerPage = 40
    /// The maximum length of the query of a page, in bytes.
    private static let maximumQueryLength = 2048
    /// The number of user IDs that are cached.
    private static let maximumUserIDs = 256

    init(_ account: AccountIdentity, _ ports: SessionPorts) {
        knownDialect = TimedCache(nil, now: ports.now)
        connection = ServiceConnection { (events) throws(ProviderError) in
            try MastodonClient(account.server, ports, events: events)
        }
        let showsSensitive = (try? connection.client.get().settings.showsSensitive) == true
        cacheVariant = showsSensitive ? "sensitive" : ""
    }

    // MARK: Sources

    func accepts(_ source: SourceID) -> Bool { MastodonSource(source) != nil }

    func sources() async throws -> [Source] {
        [
            // Translators: the photos of the people that the user follows
            Source(id: MastodonKind.home.id, title: Message("Home"), kind: .feed),
            Source(
                id: MastodonKind.local.id,
                // Translators: the photos of all users of a server
                title: Message("On {server}", ["server": try client.service.name]), kind: .feed),
            Source(id: MastodonKind.public.id, title: Message("On all servers"), kind: .feed),
            Source(id: likesSource, title: Message("Liked photos"), kind: .likes),
        ]
    }

    // MARK: Photos

    /// True: a page token names the status before the page.
    var hasStablePageTokens: Bool { true }

    @concurrent
    func fetchPage(_ source: SourceID, from pageToken: String?) async throws -> RemotePage {
        let client = try client
        guard let source = MastodonSource(source) else { throw client.service.missing(source) }
        let (path, query) = try await request(source)
        let fields = try pageToken.map { (token) throws(ProviderError) in
            guard let fields = Self.fields(ofPage: token[...]) else {
                throw .invalidArgument(
                    "The page token is not valid at this server; start again with the first page.")
            }
            return fields
        }
        var page = try await fetchStatuses(source, path, fields ?? query)
        // A server that repeats a page token has no more statuses.
        if page.next == nil || page.next == fields.map(URLEncoding.form) {
            (page.next, page.end) = (nil, nil)
        }
        return page
    }

    /// Returns the query parameters in a page token; nil for another text.
    ///
    /// A page token is the escaped query of the `Link` address that the server sent. The parameters are opaque: they may
    /// count statuses, likes or pages.
    private static func fields(ofPage query: Substring) -> Fields? {
        guard query.utf8.count <= maximumQueryLength, let fields = URLEncoding.fields(query),
            !fields.isEmpty
        else { return nil }
        return fields
    }

    /// Returns the query parameters of the next page from `Link` fields; nil at the end, which Pixelfed states with an
    /// empty `max_id`.
    ///
    /// Only the query of the address is used. It is sent to the address of this page, because servers behind some
    /// proxies send incorrect addresses.
    ///
    /// Source: pixelfed 0.11.13, `ApiV1Controller::timelineHome`.
    private static func fields(ofNext links: [String]) -> Fields? {
        guard let target = LinkHeader.target("next", in: links),
            let mark = target.firstIndex(of: "?"),
            let fields = fields(ofPage: target[target.index(after: mark)...].prefix { $0 != "#" }),
            !fields.contains(where: \.value.isEmpty)
        else { return nil }
        return fields
    }

    /// Returns the request for a source.
    ///
    /// - Returns: The segments of the path and the parameters, neither escaped.
    private func request(_ source: MastodonSource) async throws -> (path: [String], query: Fields) {
        let limit = [(name: "limit", value: "\(Self.statusesPerPage)")]
        let onlyMedia = limit + [("only_media", "true")]
        let name = source.name
        switch source.kind {
        case .home: return (["timelines", "home"], limit)
        case .likes: return (["favourites"], limit)
        case .user:
            let id = try await userID(name, source.id)
            return (["accounts", id, "statuses"], onlyMedia + [("exclude_reblogs", "true")])
        case .local, .public, .tag: break
        }
        let dialect = try await dialect()
        let media = dialect == .takahe ? limit : onlyMedia
        if source.kind == .tag {
            let name = name.hasPrefix("#") ? String(name.dropFirst()) : name
            return (["timelines", "tag", name], media)
        }
        if source.kind == .local { return (["timelines", "public"], media + [("local", "true")]) }
        // The public timeline of Pixelfed has only its own statuses by default; "remote" selects all other servers.
        return (
            ["timelines", "public"], media + (dialect == .pixelfed ? [("remote", "true")] : [])
        )
    }

    /// Fetches the photos of statuses. The end of the page is the key of the last status.
    private func fetchStatuses(
        _ source: MastodonSource, _ path: [String], _ query: Fields
    ) async throws -> RemotePage {
        let client = try client
        let response: HTTPResponse
        do {
            response = try await client.send(.get, path, query, about: .source(source.id))
        } catch ProviderError.notFound where source.kind == .tag {
            // GoToSocial 0.20, `TagTimelineGet`: the tag was never used.
            return RemotePage([])
        }
        let list: LenientList<StatusRecord> = try client.decode(response)
        try client.service.requireReadable(list, Message("a list without statuses"))
        let isTop = !query.contains { $0.name == "max_id" }
        if source.kind == .likes, list.elements.isEmpty, isTop,
            try await dialect() == .snac
        {
            // Source: snac 2.75, `mastoapi_get_handler`: the list is always empty.
            throw ProviderError.notSupported(Message("snac has no list of liked posts."))
        }
        func page(below id: String) -> Fields {
            query.filter { $0.name != "max_id" } + [("max_id", id)]
        }
        // The last pages of GoToSocial repeat statuses, and the `Link` field names a repeated one.
        //
        // Source: gotosocial 0.20, `internal/cache/timeline/status.go`, `loadStatusTimeline`.
        var seen: Set<String> = []
        var statuses = list.elements.filter { seen.insert($0.id).inserted }
        // Likes are ordered by IDs of likes, which only Pixelfed states.
        let hasKeys = source.kind != .likes
        let timeline = "\(source.id) "
        func entry(_ status: StatusRecord) -> String? {
            hasKeys ? Self.key(status.id).map { timeline + $0 } : nil
        }
        var photos = statuses.map { client.mapping.photos($0, isInLikes: !hasKeys, in: entry($0)) }
        // The statuses whose photos exceed the limit of a page begin the next page.
        var count = 0
        let fitting = photos.prefix {
            count += $0.count
            return count <= RemotePage.maximumCount
        }.count
        let kept = max(fitting, 1)
        let hasMore = kept < statuses.count
        if hasMore, !hasKeys, statuses.contains(where: { $0.likeNumber == nil }) {
            // Only the server can name the next page, unless it ignores the limit.
            let limit = query.first { $0.name == "limit" }.flatMap { Int($0.value) } ?? 0
            if kept < limit {
                let fewer = query.filter { $0.name != "limit" } + [("limit", "\(kept)")]
                return try await fetchStatuses(source, path, fewer)
            }
        } else if hasMore {
            statuses.removeSubrange(kept...)
            photos.removeSubrange(kept...)
        }
        let links = response.headers.all("Link")
        var next = Self.fields(ofNext: links)
        if source.kind == .likes {
            // The IDs of the likes on Pixelfed. The `Link` field of Pixelfed 0.11 leads back to the first page.
            next = statuses.compactMap(\.likeNumber).min().map { page(below: "\($0)") } ?? next
        } else if let last = statuses.last,
            links.isEmpty || hasMore || next != nil && statuses.count < list.elements.count
        {
            // Source: snac 2.75, `mastoapi_get_handler`: only the home timeline has the field, every timeline has
            // `max_id`. The end is an empty page, because the server may send fewer statuses than requested.
            next = page(below: last.id)
        }
        let isPartial = try await checkPartial(
            response, statuses.isEmpty, isTop: isTop && source.kind == .home)
        if photos.reduce(0, { $0 + $1.count }) > RemotePage.maximumCount {
            let limit = RemotePage.maximumCount / photos.count
            for index in photos.indices {
                client.mapping.omissions?.record(
                    photos[index].dropFirst(limit).map(\.photo.id.text),
                    Message("its post has too many images"), in: entry(statuses[index]))
                photos[index] = Array(photos[index].prefix(limit))
            }
        }
        if hasKeys {
            for (index, status) in statuses.enumerated() {
                let key = Self.key(status.id)
                for photo in photos[index].indices { photos[index][photo].entry = key }
            }
        }
        var page = RemotePage(
            photos.flatMap(\.self), next: statuses.isEmpty ? nil : next.map(URLEncoding.form),
            end: hasKeys ? statuses.last.flatMap { Self.key($0.id) } : nil)
        page.isPartial = isPartial
        if hasKeys, !isPartial {
            let maximum = query.first { $0.name == "max_id" }?.value
            client.mapping.omissions?.remove(
                from: page.next.flatMap { _ in statuses.last.flatMap(entry) } ?? timeline,
                to: timeline + (maximum.flatMap(Self.key) ?? "~"),
                except: Set(statuses.compactMap(entry)))
        }
        return page
    }

    /// Checks if a server that is still preparing the home timeline sent a part of it: status 206. Pixelfed sends the
    /// status whenever nothing is left.
    ///
    /// - Returns: True if the page is not complete.
    /// - Throws: ``ProviderError/failed(_:)`` for the first empty response for the top.
    ///
    /// Source: mastodon 4.6.4, `Api::V1::Timelines::HomeController`; pixelfed 0.11.13,
    /// `ApiV1Controller::timelineHome`.
    private func checkPartial(
        _ response: HTTPResponse, _ isEmpty: Bool, isTop: Bool
    ) async throws -> Bool {
        let isPreparing = response.status == 206 && isEmpty && isTop
        let wasPreparing = self.isPreparing.withLock { known in
            defer { if isTop { known = isPreparing } }
            return known
        }
        if isPreparing, !wasPreparing {
            throw ProviderError.failed(
                try client.service.tr(
                    "{service} is still preparing this feed; try again in a minute."))
        }
        guard response.status == 206 else { return false }
        return try await dialect() != .pixelfed
    }

    /// Returns the key of a status in a timeline: its ID, with its length in front, because timelines are ordered by
    /// the length of the IDs and then byte by byte. A boost is a status with a separate ID.
    private static func key(_ id: String) -> String? {
        guard StatusPhotoID(status: id, attachment: id) != nil else { return nil }
        let length = id.utf8.count
        return (length < 10 ? "0" : "") + "\(length)\(id)"
    }

    @concurrent
    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        let client = try client
        let missing = client.service.missing(id)
        guard let part = StatusPhotoID(id) else { throw missing }
        let response = try await client.send(.get, ["statuses", part.status], about: .photo(id))
        let status: StatusRecord = try client.decode(response)
        let photos = client.mapping.allPhotos(status)
        guard let photo = photos.first(where: { $0.photo.id == id }) else { throw missing }
        return photo
    }

    // MARK: Likes

    func likeGroupPrefix(_ photo: PhotoID) -> String? { StatusPhotoID(photo)?.idPrefix }

    /// Adds or removes the favourite of the status. The count in the response is not used: Pixelfed increments it with
    /// each request, and Mastodon decrements it with a delay.
    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int? {
        let client = try client
        guard let part = StatusPhotoID(photo) else { throw client.service.missing(photo) }
        let action = isLiked ? "favourite" : "unfavourite"
        _ = try await client.send(.post, ["statuses", part.status, action], about: .like(photo))
        return nil
    }

    // MARK: Users

    /// Returns the dialect of the server, which is fetched once.
    private func dialect() async throws -> Dialect {
        try await knownDialect.value { try await client.dialect() }
    }

    /// Returns the ID of a user, by which the statuses are requested.
    private func userID(_ name: String, _ source: SourceID) async throws -> String {
        let client = try client
        let name = name.hasPrefix("@") ? String(name.dropFirst()) : name
        if let known = userIDs.withLock({ $0[name] }) { return known }
        let response = try await client.send(
            .get, ["accounts", "lookup"], [("acct", name)], about: .source(source))
        let user: ServiceRecord = try client.decode(response)
        guard let id = user.identifier("id"), !id.isEmpty else {
            throw client.service.invalidResponse(Message("a user without an id"))
        }
        userIDs.withLock { known in
            if known.count >= Self.maximumUserIDs { known = [:] }
            known[name] = id
        }
        return id
    }
}
