import EngineModel
import ProviderKit
import TestSupport

/// A provider whose photos, delays and failures a test sets for each user. Its sessions state the cursors in a page.
final class FakeAlbums: FolderProvider {
    struct Picture: Sendable {
        let id: String
        var created: Int64?
    }

    struct User: Sendable {
        /// The photos, the newest first.
        var photos: [Picture] = []
        /// The photos of the source `memories`, the newest first.
        var memories: [Picture] = []
        /// True while reads do not return.
        var isHeld = false
        /// The error of all reads.
        var error: ProviderError?
        /// The number of new photos that a refresh finds.
        var new = 0
        /// The number of photos that were read.
        var readCount = 0
        /// The number of reads.
        var reads = 0
    }

    let users = Observed<[String: User]>([:])
    let info: ProviderInfo

    init(capabilities: [ProviderInfo.Capability] = [.feed, .register]) {
        info = ProviderInfo(
            id: "fake", name: "Fake", iconName: "image", authentication: .password,
            capabilities: capabilities, defaultSource: SourceID("all"))
    }

    /// Sets the photos of a user: IDs with the creation times.
    func setPhotos(_ user: String, _ photos: KeyValuePairs<String, Int64?>) {
        users.update {
            $0[user, default: User()].photos = photos.map { Picture(id: $0.key, created: $0.value) }
        }
    }

    func update(_ user: String, _ change: (inout User) -> Void) {
        users.update { change(&$0[user, default: User()]) }
    }

    func check(username: String) throws(ProviderError) {}

    func logIn(
        username: String, password: Secret?, registers: Bool
    ) async throws -> AccountIdentity {
        AccountIdentity(username: username)
    }

    func checkUser(_ account: AccountIdentity) async throws {}

    func removeUser(_ account: AccountIdentity) async throws {}

    func openFolder(_ account: AccountIdentity) -> any FolderSession {
        FakeAlbumsSession(account.username, users)
    }
}

private final class FakeAlbumsSession: FakeFolderSession {
    let channel = AsyncStream<SessionEvent>.makeStream()
    private let user: String
    private let users: Observed<[String: FakeAlbums.User]>

    init(_ user: String, _ users: Observed<[String: FakeAlbums.User]>) {
        self.user = user
        self.users = users
        continuation.yield(.status(.ready))
    }

    func page(_ source: SourceID, after cursor: String?, count: Int) async throws -> Page {
        guard try await hasSource(source) else { throw ProviderError.notFound("There is none.") }
        let user = user
        let state = try await users.wait { users in users[user].flatMap { $0.isHeld ? nil : $0 } }
        if let error = state.error { throw error }
        guard source.text != "likes" else {
            return Page(photos: [], hasMore: false) { _ in cursor }
        }
        // A position is the number of photos below it, because photos arrive at the top.
        let below = try cursor.map { text in
            guard let number = Int(text) else { throw ProviderError.staleCursor }
            return number
        }
        let all = source.text == "memories" ? state.memories : state.photos
        let start = all.count - (below ?? all.count)
        let photos = all[start...].prefix(count)
        users.update {
            $0[user]?.readCount += photos.count
            $0[user]?.reads += 1
        }
        return Page(
            photos: photos.map { picture in
                var photo = Photo(id: PhotoID(picture.id))
                photo.created = picture.created.map { Timestamp(secondsSince1970: $0) }
                return photo
            }, hasMore: start + photos.count < all.count
        ) { "\(all.count - start - $0)" }
    }

    func photo(_ id: PhotoID) async throws -> Photo {
        guard users.value[user]?.photos.contains(where: { $0.id == id.text }) == true else {
            throw ProviderError.notFound("There is no photo \"\(id)\".")
        }
        return Photo(id: id)
    }

    func hasSource(_ id: SourceID) async throws -> Bool {
        ["all", "likes", "album", "memories"].contains(id.text)
    }

    func refresh(_ source: SourceID) async throws -> Int {
        if let error = users.value[user]?.error { throw error }
        return users.value[user]?.new ?? 0
    }

    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> (photo: Photo, count: Int)? {
        var changed = try await self.photo(photo)
        changed.isLiked = isLiked
        return (photo: changed, count: isLiked ? 1 : 0)
    }

    func imagePath(_ photo: PhotoID, _ size: ImageSize) async throws -> String {
        "/\(user)/\(photo)/\(size.rawValue)"
    }
}
