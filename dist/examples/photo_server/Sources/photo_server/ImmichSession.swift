import ProviderKit

/// The session of an account: photos, albums, favourites and the profile.
final class ImmichSession: RemoteLikes, RemoteImages, ProfileSession {
    let events: AsyncStream<SessionEvent>
    let likesSource = SourceID("likes")
    private let server: ImmichServer
    private let continuation: AsyncStream<SessionEvent>.Continuation

    init(_ server: ImmichServer) {
        self.server = server
        (events, continuation) = AsyncStream.makeStream()
        continuation.yield(.status(.ready))
    }

    func close() { continuation.finish() }

    /// The images need the API key, so the account's HTTP client fetches them.
    var imageClient: any HTTPClient { server.http }

    func profile() async throws -> Profile {
        let user: User = try await server.fetch("users/me")
        var profile = Profile(username: user.email, name: user.name)
        profile.userID = user.id
        return profile
    }

    // MARK: Photos

    func accepts(_ source: SourceID) -> Bool {
        ["all", "likes"].contains(source.text) || source.text.hasPrefix("album:")
    }

    func sources() async throws -> [Source] {
        let albums: [Album] = try await server.fetch("albums")
        let feeds = [
            Source(id: SourceID("all"), title: "All photos", kind: .feed),
            Source(id: likesSource, title: "Favourites", kind: .likes),
        ]
        return feeds
            + albums.map {
                Source(
                    id: SourceID("album:\($0.id)"), title: $0.albumName, kind: .album,
                    count: $0.assetCount, cover: $0.albumThumbnailAssetId.map { PhotoID($0) })
            }
    }

    /// Fetches a page. The page token is the number of the page.
    func fetchPage(_ source: SourceID, from pageToken: String?) async throws -> RemotePage {
        var search = Search(page: pageToken.flatMap { Int($0) } ?? 1)
        if source == likesSource { search.isFavorite = true }
        if source.text.hasPrefix("album:") { search.albumIds = [String(source.text.dropFirst(6))] }
        let result: SearchResult = try await server.fetch("search/metadata", search)
        return RemotePage(
            result.assets.items.map { $0.photo(server) }, next: result.assets.nextPage)
    }

    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        let asset: Asset = try await server.fetch("assets/\(URLEncoding.escape(id.text))")
        return asset.photo(server)
    }

    // MARK: Likes

    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int? {
        _ = try await server.send(.put, "assets", Change(ids: [photo.text], isFavorite: isLiked))
        // Immich does not count favourites.
        return nil
    }
}
