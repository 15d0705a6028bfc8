internal import ProviderKit
internal import Synchronization
internal import Translation
internal import WebService

/// The session of a user at a server.
///
/// It stores only the search mode of the server, and for some time the rules for the photos that are shown.
final class NextcloudSession: ServiceSession, RemoteLikes, RemoteImages {
    let connection: ServiceConnection<NextcloudClient>
    let likesSource = NextcloudKind.likes.id
    let cacheVariant: String
    let hasStablePageTokens = true
    private let ports: SessionPorts
    /// The mode of the searches that succeeded. An update of the server is detected by the next session.
    private let mode = Mutex(PhotoSearch.Mode.full)
    /// The album that a client reads, between its pages: the whole list is one response.
    private let listing = Mutex<(source: NextcloudSource, records: [FileRecord])?>(nil)
    /// Photos that are known only from albums, because other users own them.
    private let foreign = Mutex<Set<PhotoID>>([])
    /// Photos that were in the files of the user when they were last seen.
    private let own = Mutex<Set<PhotoID>>([])
    private let unchanged = Mutex(UnchangedPages())
    private let filter: TimedCache<FileFilter>
    /// The folders that the app Photos shows, with the ETag of the user's files as in ``FileFilter``.
    private let folders: TimedCache<(tag: String?, paths: [String])>

    private static let maximumAlbums = 600
    /// The maximum number of albums that are searched for a photo of another user.
    private static let maximumSearchedAlbums = 40
    private static let photosPerPage = 500
    private static let maximumRemembered = 100_000

    init(_ account: AccountIdentity, _ ports: SessionPorts) {
        self.ports = ports
        filter = TimedCache(.seconds(60), now: ports.now)
        folders = TimedCache(.seconds(60), now: ports.now)
        connection = ServiceConnection { (events) throws(ProviderError) in
            try NextcloudClient(account, ports, events: events)
        }
        cacheVariant = [
            (try? connection.client.get().mapping.showsLocation) == true ? "location" : "",
            ports.settings["Exclude"] ?? "",
        ].filter { !$0.isEmpty }.joined(separator: "-")
    }

    // MARK: Sources

    func accepts(_ source: SourceID) -> Bool { NextcloudSource(source) != nil }

    func sources() async throws -> [Source] { try await sources(keeping: []) }

    func sources(keeping known: [Source]) async throws -> [Source] {
        let client = try client
        let sources = [
            Source(id: NextcloudKind.all.id, title: Message("All photos"), kind: .feed),
            Source(id: likesSource, title: Message("Favourites"), kind: .likes),
            Source(id: NextcloudKind.memories.id, title: Message("Memories"), kind: .feed),
        ]
        var albums: [Source] = []
        var failures: [ProviderError] = []
        for kind in [NextcloudKind.album, .shared] {
            let known = known.filter { NextcloudSource($0.id)?.kind == kind }
            do {
                // A list that existed is not empty when it is missing.
                guard let listed = try await client.albums(kind) else {
                    if !known.isEmpty {
                        throw client.service.invalidResponse(Message("no list of albums"))
                    }
                    continue
                }
                albums += listed
            } catch let error as ProviderError where error.concernsOneItem {
                failures.append(error)
                albums += known
            }
        }
        if failures.count == 2, let first = failures.first { throw first }
        client.mapping.omissions.setFailures(failures.map(\.message.translated))
        return Array((sources + albums).prefix(Self.maximumAlbums))
    }

    // MARK: Photos

    @concurrent
    func fetchPage(_ source: SourceID, from pageToken: String?) async throws -> RemotePage {
        let client = try client
        guard let source = NextcloudSource(source) else { throw client.service.missing(source) }
        let start = try pageToken.map { (token) throws(ProviderError) in
            guard let position = PhotoPosition(token) else { throw .staleCursor }
            return position
        }
        let position = start ?? .top
        let page: RemotePage
        switch source.kind {
        case .all: page = try await allPage(after: position)
        case .likes:
            let search = try await search(source.kind)
            page = try await supported { mode in
                try await search.with(mode).page(after: position).page
            }
        case .memories:
            let today = CalendarDate(local: ports.now())
            let search = try await search(source.kind)
            page = try await supported { mode in try await search.with(mode).memories(today) }
        case .album, .shared: return try await albumPage(source, after: start)
        }
        remember(page.photos.map(\.photo.id), in: own, notIn: foreign)
        return page
    }

    /// Returns a page of all photos. If no file changed since the page was fetched, only the favourites are requested.
    private func allPage(after position: PhotoPosition) async throws -> RemotePage {
        let client = try client
        if position == .top || unchanged.withLock({ $0.pages[position] != nil }) {
            let tag = try await client.filesTag()
            let now = ports.now()
            unchanged.withLock {
                guard tag == nil || $0.tag != tag || now >= $0.fetched + .seconds(3600) else {
                    return
                }
                $0 = UnchangedPages(tag: tag, fetched: now)
            }
        }
        let known = unchanged.withLock { $0 }
        if let page = known.pages[position] {
            let search = PhotoSearch(client: client, kind: .likes, mode: .full)
            let current = try await supported { mode in
                try await search.with(mode).update(page, after: position)
            }
            if let current { return current }
        }
        let search = try await search(.all, tag: known.tag)
        let (page, isFinal) = try await supported { mode in
            try await search.with(mode).page(after: position)
        }
        unchanged.withLock {
            guard isFinal, known.tag != nil, $0.tag == known.tag,
                $0.pages.count < UnchangedPages.maximumCount
            else { return }
            $0.pages[position] = page
        }
        return page
    }

    /// Returns the search for the photos of a source, which the app Photos shows. Favourites are shown in any folder.
    /// The rule and the folders belong to the ETag of the user's files, if that is known.
    private func search(_ kind: NextcloudKind, tag: String? = nil) async throws -> PhotoSearch {
        let client = try client
        let filter = try await filter.value(where: { tag == nil || $0.tag == tag }) {
            try await client.fileFilter(tag: tag)
        }
        var search = PhotoSearch(client: client, kind: kind, mode: .full, filter: filter)
        if kind != .likes {
            search.folders = try await folders.value(where: { tag == nil || $0.tag == tag }) {
                try await (tag, client.sourceFolders())
            }.paths
        }
        return search
    }

    private func albumPage(
        _ source: NextcloudSource, after start: PhotoPosition?
    ) async throws -> RemotePage {
        let client = try client
        let known = listing.withLock { $0?.source == source && start != nil ? $0?.records : nil }
        let all: [FileRecord]
        if let known {
            all = known
        } else {
            all = try await client.photos(of: source).sorted {
                PhotoPosition($0) > PhotoPosition($1)
            }
        }
        let records = all.drop { PhotoPosition($0) >= start ?? .top }
        let shown = records.prefix(Self.photosPerPage)
        let isLast = shown.count == records.count
        listing.withLock { $0 = isLast ? nil : (source, all) }
        // An album has other paths than the files, and those of other users. Newer servers state the user's own.
        let own =
            all.contains { $0.ownPath != nil }
            ? [:]
            : try await supported { mode in
                try await client.files(
                    shown.map(\.id), hasMetadata: mode.hasMetadata, about: .source(source.id))
            }
        let located = shown.map { $0.located(at: own[$0.id], below: client.filesRoot) }
        remember(located)
        return RemotePage(
            client.mapping.photos(located),
            next: isLast ? nil : shown.last.map { PhotoPosition($0).token })
    }

    /// Searches with the properties that the server supports. If the server rejects some of them, searches with fewer.
    private func supported<Value>(
        _ search: (PhotoSearch.Mode) async throws -> Value
    ) async throws -> Value {
        let known = mode.withLock { $0 }
        var mode = known
        while true {
            do {
                let value = try await search(mode)
                if mode != known { self.mode.withLock { [mode] in $0 = mode } }
                return value
            } catch let error as UnsupportedSearch {
                guard let simpler = mode.simpler else { throw error.error }
                mode = simpler
            }
        }
    }

    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        try await fetchPhoto(id, note: nil)
    }

    @concurrent
    func fetchPhoto(_ id: PhotoID, note: String?) async throws -> RemotePhoto {
        let client = try client
        // No album has a photo that was deleted from the files of the user.
        let isOwn =
            note?.hasPrefix(client.server.path + "/remote.php/dav/files/") == true
            || own.withLock { $0.contains(id) }
        let record = try await fetchRecord(id, inAlbums: !isOwn)
        guard record.isPhoto else { throw client.service.missing(id) }
        remember([record])
        return client.mapping.photo(record)
    }

    private func fetchRecord(_ id: PhotoID, inAlbums: Bool) async throws -> FileRecord {
        let client = try client
        let missing = client.service.missing(id)
        guard let number = Int64(id.text), number > 0, "\(number)" == id.text else { throw missing }
        let found = try await supported { mode in
            try await client.files([number], hasMetadata: mode.hasMetadata, about: .photo(id))
        }
        if let record = found[number] {
            remember([record])
            return record
        }
        guard inAlbums, let record = try await albumRecord(number) else { throw missing }
        return record
    }

    /// Returns a photo of another user in an album; nil if no album has it.
    private func albumRecord(_ id: Int64) async throws -> FileRecord? {
        let client = try client
        let albums =
            try await (client.albums(.shared) ?? [])
            + (client.albums(.album) ?? [])
        for album in albums.compactMap({ NextcloudSource($0.id) }).prefix(
            Self.maximumSearchedAlbums)
        {
            do {
                let records = try await client.photos(of: album)
                if let record = records.first(where: { $0.id == id }) { return record }
            } catch let error as ProviderError where error.concernsOneItem {
                // Another album may have the photo.
            }
        }
        return nil
    }

    /// Remembers which photos are in the files of the user. A photo may enter them or leave them.
    private func remember(_ records: [FileRecord]) {
        func ids(_ records: [FileRecord]) -> [PhotoID] { records.map { PhotoID("\($0.id)") } }
        remember(ids(records.filter { !$0.isInAlbum }), in: own, notIn: foreign)
        remember(ids(records.filter(\.isInAlbum)), in: foreign, notIn: own)
    }

    private func remember(
        _ ids: [PhotoID], in known: borrowing Mutex<Set<PhotoID>>,
        notIn others: borrowing Mutex<Set<PhotoID>>
    ) {
        others.withLock { $0.subtract(ids) }
        known.withLock { if $0.count < Self.maximumRemembered { $0.formUnion(ids) } }
    }

    // MARK: Images

    /// The images require the credentials of the account.
    var imageClient: any HTTPClient {
        guard let client = try? client else { return ports.http }
        return client.images { [self] in try await fetchRecord($0, inAlbums: $1) }
    }

    func downloadAddress(_ photo: RemotePhoto) -> String? { try? client.mapping.original(photo) }

    // MARK: Likes

    /// Sets the favourite state. The service does not count favourites.
    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int? {
        let client = try client
        // The path, which a favourite needs, changes when the file is moved.
        let record: FileRecord
        do {
            record = try await fetchRecord(photo, inAlbums: false)
        } catch ProviderError.notFound where foreign.withLock({ $0.contains(photo) }) {
            throw ProviderError.refused(
                Message(
                    "Only the owner of the photo can change its favourite at {server}.",
                    ["server": client.server.host]))
        }
        try await client.setFavourite(record, isLiked, photo)
        return nil
    }
}

/// The pages of all photos that were fetched while the user's files had one ETag.
private struct UnchangedPages {
    /// The ETag; nil if it is unknown.
    var tag: String?
    var fetched = Timestamp(secondsSince1970: 0)
    var pages: [PhotoPosition: RemotePage] = [:]

    /// The largest number of pages, which is that of a refresh.
    static let maximumCount = 5
}

extension ProviderError {
    /// True if the error may concern only the requested item, not the account or the server.
    fileprivate var concernsOneItem: Bool {
        switch self {
        case .failed, .notFound, .denied, .notSupported: true
        default: false
        }
    }
}
