internal import JSONFormat
internal import ProviderKit
internal import Synchronization
internal import Translation
internal import WebService

/// The session of a user at a server.
///
/// It stores only the version of the server, for some time the stacks and the names of users, and the state of walks.
final class ImmichSession: ServiceSession, RemoteLikes, RemoteImages {
    let connection: ServiceConnection<ImmichClient>
    let likesSource = ImmichKind.likes.id
    let cacheVariant: String
    private let ports: SessionPorts
    private let knownVersion: TimedCache<ServerVersion>
    /// The photos of stacks, except the primary ones, with the primary one.
    private let knownStacks: TimedCache<[AssetID: AssetID]>
    private let knownNames: TimedCache<[String: String]>
    /// The photos of months of the timeline that are in no stack, or the primary ones of theirs.
    private let knownMonths: TimedCache<[String: Set<AssetID>]>
    /// The ID of the user.
    private let ownID: String?
    /// The album that a client reads, between its pages: older servers return it as a whole.
    private let listing = Mutex<(source: ImmichSource, photos: [ListedPhoto])?>(nil)
    /// The photos that represent stacks in the last walks through albums and people, by the primary photos.
    private let represented = Mutex<[ImmichSource: [AssetID: AssetID]]>([:])

    /// The number of photos in a page.
    private static let photosPerPage = 100
    /// The maximum number of results of a request that the server accepts.
    private static let maximumResults = 1000
    /// The maximum number of requests for a page. More photos of one second are left out.
    private static let maximumRequests = 20
    /// The maximum size of an album with its photos, in bytes.
    private static let maximumAlbumBytes = 64 << 20
    private static let maximumAlbums = 600
    private static let maximumPeople = 300

    init(_ account: AccountIdentity, _ ports: SessionPorts) {
        self.ports = ports
        ownID = account.userID
        knownVersion = TimedCache(nil, now: ports.now)
        knownStacks = TimedCache(.seconds(60), now: ports.now)
        knownNames = TimedCache(.seconds(600), now: ports.now)
        knownMonths = TimedCache(.seconds(60), now: ports.now)
        connection = ServiceConnection { _ throws(ProviderError) in
            try ImmichClient(account.server, ports)
        }
        let settings = try? connection.client.get()
        cacheVariant = [
            settings?.mapping.showsLocation == true ? "location" : nil,
            settings?.showsPartners == false ? "own" : nil,
        ].compactMap(\.self).joined(separator: "-")
    }

    // MARK: Sources

    func accepts(_ source: SourceID) -> Bool { ImmichSource(source) != nil }

    /// Fetches the sources. Without the permission to read albums or people, these are left out, and a notice says so.
    func sources() async throws -> [Source] {
        var sources = [
            Source(id: ImmichKind.all.id, title: Message("All photos"), kind: .feed),
            Source(id: likesSource, title: Message("Favourites"), kind: .likes),
            Source(id: ImmichKind.memories.id, title: Message("Memories"), kind: .feed),
        ]
        var notices: [String] = []
        for fetch in [albums, people, stackSources] {
            do {
                sources += try await fetch()
            } catch ProviderError.denied(let reason) {
                notices.append(reason.translated)
            }
        }
        connection.continuation.yield(.notices(notices))
        return sources
    }

    /// Fetches the albums of the user and those that others share with the user. From version 3 on, both lists are
    /// equal.
    private func albums() async throws -> [Source] {
        var known: Set<AssetID> = []
        var sources: [Source] = []
        for query in [[], [(name: "shared", value: "true")]] {
            let albums: LenientList<ServiceRecord> = try await client.fetch(
                ["albums"], query, about: .other(Message("list the albums")),
                permission: "album.read")
            for album in albums.elements {
                guard let id: AssetID = album.value("id"), known.insert(id).inserted else {
                    continue
                }
                let cover: AssetID? = album.value("albumThumbnailAssetId")
                sources.append(
                    Source(
                        id: ImmichKind.album.id(id.rawValue),
                        title: album.line("albumName").map { Message(verbatim: $0) }
                            ?? Message("Untitled album"), kind: .album,
                        count: album.count("assetCount"),
                        cover: cover.map { PhotoID($0.rawValue) }))
            }
        }
        return Array(sources.prefix(Self.maximumAlbums))
    }

    /// Fetches the people that the user has named.
    private func people() async throws -> [Source] {
        let client = try client
        let response = try await client.send(
            .get, ["people"], [("withHidden", "false"), ("size", "500")],
            about: .other(Message("list the people")), permission: "person.read")
        guard let people = response.record?.records("people") else {
            throw client.unreadable(response)
        }
        let sources = people.compactMap { person -> Source? in
            // The name is empty if the user has not named the person.
            guard let id: AssetID = person.value("id"), person.flag("isHidden") != true,
                let name = person.line("name")
            else { return nil }
            return Source(id: ImmichKind.person.id(id.rawValue), title: name, kind: .topic)
        }
        return Array(sources.prefix(Self.maximumPeople))
    }

    /// Checks the permission to read stacks, which are no sources.
    private func stackSources() async throws -> [Source] {
        _ = try await knownStacks.value { try await fetchStacks() }
        return []
    }

    private func fetchStacks() async throws -> [AssetID: AssetID] {
        let client = try client
        let response = try await client.send(
            .get, ["stacks"], about: .other(Message("list the stacks")),
            permission: "stack.read", maximumBytes: Self.maximumAlbumBytes, isOptional: true)
        guard response.isSuccess else { return knownStacks.latest ?? [:] }
        let stacks: LenientList<ServiceRecord> = try client.decode(response)
        let pairs = stacks.elements.flatMap { stack -> [(AssetID, AssetID)] in
            guard let primary: AssetID = stack.value("primaryAssetId"),
                let assets = stack.records("assets")
            else { return [] }
            return assets.compactMap { $0.value("id") }.map { ($0, primary) }
        }
        return Dictionary(pairs.filter { $0 != $1 }) { first, _ in first }
    }

    /// Returns the stacks, or the last known ones if the server fails. Without them, all photos of stacks would be new.
    private func stacks() async throws -> [AssetID: AssetID] {
        do {
            return try await knownStacks.value { try await fetchStacks() }
        } catch ProviderError.denied {
            // The sources report the missing permission.
            return [:]
        } catch ProviderError.failed(let reason) {
            guard let latest = knownStacks.latest else { throw ProviderError.failed(reason) }
            return latest
        }
    }

    /// Removes the photos of partners that are in a stack, except the primary ones. The list of stacks has only those of
    /// the user. The photos of a first page may be newer than the known months.
    ///
    /// Source: immich 1.118, 2.0.0 and 3.0.3, `timeline.service.ts` and `getTimeBucket` of `asset.repository.ts`. Each
    /// version ignores the parameters of the others.
    private func withoutStacks(
        _ assets: [AssetRecord], isFirst: Bool
    ) async throws -> [AssetRecord] {
        let months = Set(assets.filter { !isOwn($0) }.compactMap(\.month))
        guard try client.showsPartners, !months.isEmpty else { return assets }
        var known: [String: Set<AssetID>] = [:]
        do {
            known = try await knownMonths.value {
                !isFirst && months.isSubset(of: $0.keys)
            } fetch: {
                var known: [String: Set<AssetID>] = [:]
                for month in months { known[month] = try await fetchMonth(month) }
                return known
            }
        } catch ProviderError.denied {
            // All photos are shown.
        } catch ProviderError.failed(let reason) {
            guard let latest = knownMonths.latest, months.isSubset(of: latest.keys) else {
                throw ProviderError.failed(reason)
            }
            known = latest
        }
        return assets.filter { asset in
            let ids = asset.month.flatMap { known[$0] } ?? []
            return isOwn(asset) || ids.isEmpty || ids.contains(asset.id)
        }
    }

    /// Fetches the photos of a month that the timeline shows; none if the server has no timeline. Versions before 1.133
    /// list assets, the others columns.
    private func fetchMonth(_ month: String) async throws -> Set<AssetID> {
        let client = try client
        let response = try await client.month(
            month, ImmichKind.all.id,
            [
                ("withPartners", "true"), ("withStacked", "true"), ("visibility", "timeline"),
                ("isArchived", "false"), ("size", "MONTH"),
            ], maximumBytes: Self.maximumAlbumBytes, isOptional: true)
        guard response.isSuccess else { return knownMonths.latest?[month] ?? [] }
        if let ids = response.record?.value("id", as: [AssetID].self) { return Set(ids) }
        let assets: LenientList<AssetRecord> = try client.decode(response)
        return Set(assets.elements.map(\.id))
    }

    /// Fetches the names of the users by their IDs.
    private func fetchNames() async throws -> [String: String] {
        let users: LenientList<ServiceRecord> = try await client.fetch(
            ["users"], about: .other(Message("list the users")), permission: "user.read")
        let pairs = users.elements.compactMap { user in
            user.text("id").flatMap { id in user.line("name").map { (id, $0) } }
        }
        return Dictionary(pairs) { first, _ in first }
    }

    // MARK: Photos

    /// Returns the photos of a list that are shown: no videos, no photos in the trash, and of a stack only the primary
    /// photo. Favourites are those of the user, stacked or not.
    private func photos(
        _ assets: [AssetRecord], of source: ImmichSource
    ) async throws -> [RemotePhoto] {
        let stacks = source.kind == .likes ? [:] : try await stacks()
        let showsPartners = try client.showsPartners
        let shown = assets.filter { asset in
            guard asset.isPhoto else { return false }
            let isOwn = isOwn(asset)
            return switch source.kind {
            case .album: true
            case .person: isOwn || showsPartners
            case .likes: isOwn
            case .all, .memories, .search:
                (isOwn || showsPartners) && stacks[asset.id] == nil
            }
        }
        let isWalk = source.kind == .album || source.kind == .person
        return try await mapped(isWalk ? representatives(shown, stacks, of: source) : shown)
    }

    /// Returns one photo of each stack in a walk: the primary one if the first page with the stack has it, else the first
    /// one, because an album or a person may not have the primary one.
    private func representatives(
        _ assets: [AssetRecord], _ stacks: [AssetID: AssetID], of source: ImmichSource
    ) -> [AssetRecord] {
        let listed = Set(assets.map(\.id))
        let primaries = Set(stacks.values)
        var known = represented.withLock { $0[source] ?? [:] }
        let shown = assets.filter { asset in
            let primary = stacks[asset.id] ?? asset.id
            guard primaries.contains(primary) else { return true }
            let shown = known[primary] ?? (listed.contains(primary) ? primary : asset.id)
            known[primary] = shown
            return asset.id == shown
        }
        represented.withLock { [known] in $0[source] = known }
        return shown
    }

    /// Maps assets, with the names of other owners.
    private func mapped(_ assets: some Collection<AssetRecord>) async throws -> [RemotePhoto] {
        var names: [String: String] = [:]
        do {
            if !assets.allSatisfy(isOwn) {
                names = try await knownNames.value { try await fetchNames() }
            }
        } catch ProviderError.denied {
            // The photos have no author.
        }
        let mapping = try client.mapping
        return assets.map { asset in
            let owner = isOwn(asset) ? nil : asset.owner
            return mapping.photo(asset, by: owner.flatMap { names[$0] })
        }
    }

    private func isOwn(_ asset: AssetRecord) -> Bool {
        ownID == nil || asset.owner == nil || asset.owner == ownID
    }

    func hasStablePageTokens(in source: SourceID) -> Bool { ImmichSource(source)?.kind != .search }

    /// Fetches a page of photos. The page token is a position of ``SearchRequest``, in a month for some albums.
    @concurrent
    func fetchPage(_ source: SourceID, from pageToken: String?) async throws -> RemotePage {
        let client = try client
        guard let source = ImmichSource(source) else { throw client.service.missing(source) }
        if pageToken == nil { represented.withLock { $0[source] = nil } }
        let isMonth = pageToken?.hasPrefix(Self.monthMark) == true
        var search = try SearchRequest(
            isMonth ? nil : pageToken, query: source.kind == .search ? source.name : nil,
            size: Self.photosPerPage)
        switch source.kind {
        case .all, .search: search.conditions = ["visibility": "timeline"]
        case .likes: search.conditions = ["isFavorite": true]
        case .person:
            search.conditions = [
                "visibility": "timeline", "personIds": .array([.string(source.name)]),
            ]
        case .album:
            if let found = try await albumPage(source, pageToken, search) { return found }
            search.conditions = ["albumIds": .array([.string(source.name)])]
        case .memories: return try await withVersion { try await memories(source, $0) }
        }
        return try await find(search, source)
    }

    private func find(_ search: SearchRequest, _ source: ImmichSource) async throws -> RemotePage {
        let client = try client
        // A server that does not state its version has the original form of searches.
        let hasFilter = search.hasFilter(at: (try? await version()) ?? (1, 0, 0))
        // The server was replaced by an older version.
        if search.cursor != nil, !hasFilter { throw ProviderError.staleCursor }
        var (request, assets, isEnd) = (search, [AssetRecord](), false)
        for number in 0..<Self.maximumRequests {
            // One second fills the page: all its photos are fetched.
            if number == 1 {
                (request, assets) = (search, [])
                request.size = Self.maximumResults
            }
            let record: SearchRecord = try await client.fetch(
                ["search", search.query == nil ? "metadata" : "smart"],
                body: request.body(hasFilter: hasFilter), about: .source(source.id),
                permission: "asset.read")
            try client.service.requireReadable(record.assets, Message("a list without photos"))
            assets += record.assets.elements
            isEnd = !request.advance(after: record, hasFilter: hasFilter)
            if isEnd || search.query != nil || search.isComplete(assets) { break }
        }
        var next = isEnd ? nil : request.token
        if search.query == nil {
            (assets, next) = search.page(
                of: assets, isEnd: isEnd, second: \.second, id: \.id.rawValue)
        }
        if source.kind == .all {
            assets = try await withoutStacks(assets, isFirst: search.latest == nil)
        }
        return RemotePage(try await photos(assets, of: source), next: next)
    }

    /// The beginning of the page token of a month.
    private static let monthMark = "bucket:"

    /// Fetches a page of an album from a server whose searches ignore albums (version 1), or leave out the photos of
    /// other owners (versions 2 and 3.0: immich-app/immich #28662).
    ///
    /// - Returns: The page; nil if a search has all photos of the album.
    private func albumPage(
        _ source: ImmichSource, _ token: String?, _ search: SearchRequest
    ) async throws -> RemotePage? {
        let client = try client
        let version = try await version()
        let isMonth = token?.hasPrefix(Self.monthMark) == true
        guard version.major < 3, !isMonth else {
            return isMonth || version < (3, 1, 0) ? try await monthPage(source, token) : nil
        }
        var known = listing.withLock { $0?.source == source && token != nil ? $0?.photos : nil }
        if known == nil {
            let album: ServiceRecord = try await client.fetch(
                ["albums", source.name], about: .source(source.id),
                permission: "album.read", maximumBytes: Self.maximumAlbumBytes)
            guard let list: LenientList<AssetRecord> = album.value("assets") else {
                // The server was updated since the last request.
                knownVersion.forget()
                guard try await self.version().major >= 3 else {
                    throw client.service.invalidResponse(Message("an album without photos"))
                }
                return try await albumPage(source, token, search)
            }
            try client.service.requireReadable(list, Message("an album without photos"))
            known = try await listed(list.elements, of: source)
        }
        let photos = known ?? []
        let page = search.page(of: photos)
        listing.withLock { $0 = page.next == nil ? nil : (source, photos) }
        return RemotePage(page.photos.map(\.photo), next: page.next)
    }

    /// Returns the photos of an album that are shown, the newest first.
    private func listed(
        _ assets: [AssetRecord], of source: ImmichSource
    ) async throws -> [ListedPhoto] {
        let seconds = Dictionary(assets.map { (PhotoID($0.id.rawValue), $0.second) }) { $1 }
        return try await photos(Self.newestFirst(assets), of: source).compactMap { photo in
            seconds[photo.photo.id].map { ($0, photo) }
        }
    }

    /// Fetches a part of a month of an album. The photos of the user have the details of a search, so that they are the
    /// same as in other sources.
    private func monthPage(_ source: ImmichSource, _ token: String?) async throws -> RemotePage {
        let client = try client
        let album = [(name: "albumId", value: source.name)]
        let position = try token.map { (token) throws(ProviderError) in
            let parts = token.dropFirst(Self.monthMark.count).split(separator: "/", maxSplits: 1)
                .map(String.init)
            guard token.hasPrefix(Self.monthMark), let month = parts.first else {
                throw .staleCursor
            }
            return (
                month: month,
                part: try SearchRequest(parts.dropFirst().first, size: Self.photosPerPage)
            )
        }
        let buckets: LenientList<ServiceRecord> = try await client.fetch(
            ["timeline", "buckets"], album, about: .source(source.id),
            permission: "asset.read")
        let months = buckets.elements.compactMap { $0.text("timeBucket") }.sorted(by: >)
            .drop { month in position.map { month > $0.month } ?? false }
        guard let month = months.first, let day = CalendarDate(month.prefix(10))?.dayNumber else {
            return RemotePage([])
        }
        let bucket: TimeBucketRecord = try client.decode(
            try await client.month(month, source.id, album))
        guard let listed = bucket.assets else {
            throw client.service.invalidResponse(Message("an album without photos"))
        }
        var search = try SearchRequest(size: Self.maximumResults)
        // The months are those of the places where the photos were taken.
        search.conditions = [
            "albumIds": .array([.string(source.name)]),
            "takenAfter": .string(CalendarDate(dayNumber: day - 1).text + "T00:00:00.000Z"),
            "takenBefore": .string(CalendarDate(dayNumber: day + 33).text + "T00:00:00.000Z"),
        ]
        let own: SearchRecord = try await client.fetch(
            ["search", "metadata"], body: search.body(hasFilter: false), about: .source(source.id),
            permission: "asset.read")
        let details = Dictionary(own.assets.elements.map { ($0.id, $0) }) { first, _ in first }
        let photos = try await self.listed(listed.map { details[$0.id] ?? $0 }, of: source)
        let start = position?.month == month ? position?.part : nil
        let page = try (start ?? SearchRequest(size: Self.photosPerPage)).page(of: photos)
        let next = page.next.map { "\(month)/\($0)" } ?? months.dropFirst().first
        return RemotePage(page.photos.map(\.photo), next: next.map { Self.monthMark + $0 })
    }

    /// Returns the version of the server, which is fetched once. It changes with an update of the server.
    private func version() async throws -> ServerVersion {
        try await knownVersion.value {
            let client = try client
            let response = try await client.send(
                .get, ["server", "version"], about: .other(Message("read the version")))
            guard let version = response.record, let major: Int = version.value("major"),
                let minor: Int = version.value("minor"), let patch: Int = version.value("patch")
            else { throw client.unreadable(response) }
            return (major, minor, patch)
        }
    }

    /// Sends a request whose form depends on the version of the server. A request that fails is sent again if the server
    /// was updated since its version was fetched.
    private func withVersion<Value>(
        _ send: (ServerVersion) async throws -> Value
    ) async throws -> Value {
        let version = try await version()
        do {
            return try await send(version)
        } catch let error as ProviderError where error.mayDependOnVersion {
            knownVersion.forget()
            guard let current = try? await self.version(), current != version else { throw error }
            return try await send(current)
        }
    }

    /// Fetches the memories of today, the most recent year first.
    private func memories(
        _ source: ImmichSource, _ version: ServerVersion
    ) async throws -> RemotePage {
        let client = try client
        let today = CalendarDate(local: ports.now())
        // Source: immich-app/immich #29907. Versions before 3.0.0 accept both forms, the others only one of them.
        let day = version < (3, 0, 3) ? "\(today.text)T12:00:00.000Z" : today.text
        let memories: LenientList<MemoryRecord> = try await client.fetch(
            ["memories"], [("for", day), ("type", "on_this_day")],
            about: .source(source.id), permission: "memory.read")
        try client.service.requireReadable(memories, Message("memories without photos"))
        // Versions before 1.126 ignore the date.
        let found = memories.elements.filter { memory in
            let date = memory.members.text("memoryAt").flatMap { CalendarDate($0.prefix(10)) }
            guard memory.members.text("type") == "on_this_day", let date else { return false }
            return date.year < today.year && date.month == today.month && date.day == today.day
        }
        var known: Set<AssetID> = []
        let assets = Self.newestFirst(found.flatMap(\.assets.elements)).filter {
            $0.created != nil && known.insert($0.id).inserted
        }
        return RemotePage(Array(try await photos(assets, of: source).prefix(500)))
    }

    private static func newestFirst(_ assets: [AssetRecord]) -> [AssetRecord] {
        assets.sorted { ($0.second, $0.id.rawValue) > ($1.second, $1.id.rawValue) }
    }

    @concurrent
    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        let client = try client
        let asset = try await fetchAsset(id)
        guard asset.isPhoto, let photo = try await mapped([asset]).first else {
            throw client.service.missing(id)
        }
        return photo
    }

    private func fetchAsset(_ id: PhotoID) async throws -> AssetRecord {
        let client = try client
        guard let asset = AssetID(rawValue: id.text) else { throw client.service.missing(id) }
        let record: AssetRecord = try await client.fetch(
            ["assets", asset.rawValue], about: .photo(id), permission: "asset.read")
        guard record.id == asset else {
            throw client.service.invalidResponse(Message("another photo"))
        }
        return record
    }

    // MARK: Images

    /// The images require the credentials of the account.
    var imageClient: any HTTPClient { (try? client.images) ?? ports.http }

    func downloadAddress(_ photo: RemotePhoto) -> String? { try? client.mapping.original(photo) }

    // MARK: Likes

    /// Sets the favourite state. The service does not count favourites.
    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int? {
        let client = try client
        guard let id = AssetID(rawValue: photo.text) else { throw client.service.missing(photo) }
        do {
            try await withVersion { version in
                // Version 3 accepts both methods, and version 4 is to accept only the second: immich-app/immich #28859.
                let method: HTTPRequest.Method = version.major < 4 ? .put : .patch
                _ = try await client.send(
                    method, ["assets"], [],
                    ["ids": .array([.string(id.rawValue)]), "isFavorite": .bool(isLiked)],
                    about: .like(photo), permission: "asset.update")
            }
        } catch ProviderError.notFound {
            // The response is the same for a missing photo and for one of another user.
            _ = try await fetchAsset(photo)
            throw ProviderError.refused(
                Message(
                    "{server} does not let this account like photos of other users: the permission {permission} is missing.",
                    ["server": client.server.host, "permission": "asset.update"]))
        }
        return nil
    }
}

extension ProviderError {
    /// True if a request may have failed because the server has another version than the request.
    fileprivate var mayDependOnVersion: Bool {
        switch self {
        case .failed, .notFound: true
        default: false
        }
    }
}
