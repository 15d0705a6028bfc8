internal import ProviderKit
internal import Synchronization
internal import WebService

/// The session of a user at a server.
///
/// It stores only the search mode of the server, and the sources for a minute.
final class NextcloudSession: RemoteLikes, RemoteImages, ProfileSession {
    let events: AsyncStream<SessionEvent>
    let likesSource = NextcloudSource.likes.id
    let cacheVariant: String
    let hasStablePageTokens = true
    private let continuation: AsyncStream<SessionEvent>.Continuation
    private let client: Result<NextcloudClient, ProviderError>
    private let ports: SessionPorts
    /// The mode of the searches that succeeded. An update of the server is detected by the next session.
    private let mode = Mutex(PhotoSearch.Mode.full)
    private let knownSources: TimedCache<[Source]>

    private static let maximumAlbums = 600
    /// The maximum number of albums that are searched for a photo of another user.
    private static let maximumSearchedAlbums = 40
    private static let photosPerPage = 500

    init(_ account: AccountIdentity, _ ports: SessionPorts) {
        (events, continuation) = AsyncStream.makeStream()
        self.ports = ports
        knownSources = TimedCache(.seconds(60), now: ports.now)
        client = Result { [continuation] () throws(ProviderError) in
            try NextcloudClient(account, ports, events: continuation)
        }
        cacheVariant = (try? client.get().showsLocation) == true ? "location" : ""
        continuation.yield(.status(client.sessionStatus))
    }

    func close() { continuation.finish() }

    // MARK: Sources

    func accepts(_ source: SourceID) -> Bool { NextcloudSource(source) != nil }

    func sources() async throws -> [Source] {
        let client = try client.get()
        return try await knownSources.value { try await fetchSources(client) }
    }

    private func fetchSources(_ client: NextcloudClient) async throws -> [Source] {
        let sources = [
            Source(id: NextcloudSource.all.id, title: "All photos", kind: .feed),
            Source(id: likesSource, title: "Favourites", kind: .likes),
            Source(id: NextcloudSource.memories.id, title: "Memories", kind: .feed),
        ]
        let albums = try await client.albums(isShared: false) + client.albums(isShared: true)
        return Array((sources + albums.map(\.source)).prefix(Self.maximumAlbums))
    }

    // MARK: Photos

    func fetchPage(_ source: SourceID, from pageToken: String?) async throws -> RemotePage {
        let client = try client.get()
        guard let kind = NextcloudSource(source) else { throw client.service.missing(source) }
        let start = try pageToken.map { (token) throws(ProviderError) in
            guard let position = PhotoPosition(token) else { throw .staleCursor }
            return position
        }
        let position = start ?? .top
        switch kind {
        case .all, .likes:
            return try await supported { mode in
                try await PhotoSearch(client: client, source: kind, mode: mode)
                    .page(after: position)
            }
        case .memories:
            let today = CalendarDate(local: ports.now())
            return try await supported { mode in
                try await PhotoSearch(client: client, source: kind, mode: mode).memories(today)
            }
        case .album:
            let records = try await client.photos(of: kind)
                .filter { PhotoPosition($0) < position }
                .sorted { PhotoPosition($0) > PhotoPosition($1) }
            let shown = records.prefix(Self.photosPerPage)
            // An album has other paths than the files, and those of other users.
            let own = try await supported { mode in
                try await client.files(
                    shown.map(\.id), hasMetadata: mode.hasMetadata, about: .source(source))
            }
            return RemotePage(
                client.mapping.photos(shown.map { $0.located(at: own[$0.id]) }),
                next: shown.count < records.count
                    ? shown.last.map { PhotoPosition($0).token } : nil)
        }
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
        let client = try client.get()
        let record = try await fetchRecord(id, client)
        guard record.isPhoto else { throw client.service.missing(id) }
        return client.mapping.photo(record)
    }

    private func fetchRecord(_ id: PhotoID, _ client: NextcloudClient) async throws -> FileRecord {
        let missing = client.service.missing(id)
        guard let number = Int64(id.text), number > 0, "\(number)" == id.text else { throw missing }
        let found = try await supported { mode in
            try await client.files([number], hasMetadata: mode.hasMetadata, about: .photo(id))
        }
        if let record = found[number] { return record }
        guard let record = try await albumRecord(number, client) else { throw missing }
        return record
    }

    /// Returns a photo of another user in an album; nil if no album has it.
    private func albumRecord(
        _ id: Int64, _ client: NextcloudClient
    ) async throws -> FileRecord? {
        let albums = try await client.albums(isShared: true) + client.albums(isShared: false)
        for listed in albums.prefix(Self.maximumSearchedAlbums) {
            let records = try await client.photos(of: listed.album)
            if let record = records.first(where: { $0.id == id }) { return record }
        }
        return nil
    }

    // MARK: Images

    /// The images require the credentials of the account.
    var imageClient: any HTTPClient {
        guard let client = try? client.get() else { return ports.http }
        return client.images { [self] in try await fetchRecord($0, client) }
    }

    func downloadAddress(_ photo: RemotePhoto) -> String? {
        try? client.get().mapping.original(photo)
    }

    // MARK: Likes

    /// Sets the favourite state. The service does not count favourites.
    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int? {
        let client = try client.get()
        // The path, which a favourite needs, changes when the file is moved. The server refuses a favourite by the path in
        // an album, with the reason: only the owner can change it.
        let record = try await fetchRecord(photo, client)
        try await client.setFavourite(record, isLiked, photo)
        return nil
    }

    // MARK: Users

    func profile() async throws -> Profile { try await client.get().currentUser() }
}
