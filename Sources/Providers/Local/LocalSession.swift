internal import EngineModel
internal import Glibc
internal import ImageMetadata
internal import ProviderKit
internal import Quoting
internal import Storage
internal import Synchronization
internal import System
internal import Translation

/// The session of a local user. All sessions share one folder.
final class LocalSession: FolderSession {
    let events: AsyncStream<SessionEvent>
    let folder: PictureFolder
    /// The user, as a ``UserName/key``.
    let user: String
    private let provider: LocalProvider
    /// The number of the session in the folder.
    private let listener: Int

    init(
        _ user: String, _ folder: PictureFolder, _ provider: LocalProvider,
        _ listener: (id: Int, events: AsyncStream<SessionEvent>)
    ) {
        self.user = user
        self.folder = folder
        self.provider = provider
        self.listener = listener.id
        events = listener.events
    }

    func close() { provider.close(folder, listener) }

    // MARK: Feed

    func page(_ source: SourceID, after cursor: String?, count: Int) async throws -> Page {
        let isDated = source == datedSource
        let start = try cursor.map { try Self.parse($0, isDated: isDated) }
        // A walk continues with the photos of the date on which it began.
        let date = isDated ? start?.date ?? folder.today : nil
        // During the first scan, a page without a next page may not be the last one.
        let found = try await folder.read(
            atLeast: count, until: { $0.page.hasMore || $0.isEmptySelection },
            orAtLimit: { !$0.page.photos.isEmpty }
        ) { [folder, user, date, position = start?.position] index in
            let selection = try Self.selection(source, index, date) {
                folder.marks.rows(of: user)
            }
            let page = try index.page(selection, after: position, count: count)
            let photos = folder.marks.mark(page.photos.map { folder.photo($0) }, for: user)
            // A scan cannot add photos to an empty selection.
            return (page: page, photos: photos, isEmptySelection: selection.isEmpty)
        }
        let unread = found.page.photos.filter { !$0.isExamined }
        folder.metadataReader.readMetadata(of: unread.map(\.id))
        if let date, cursor == nil { folder.updateMemories(date) }
        // During the first scan more photos may follow, so the walk continues after the last photo.
        let hasMore = found.page.hasMore || !folder.canServeAll && !found.page.photos.isEmpty
        return Page(photos: found.photos, hasMore: hasMore) { [date] count in
            if count == 0, let cursor { return cursor }
            let last = count == 0 ? nil : found.page.photos[count - 1]
            return Self.text(
                PictureIndex.IndexPosition(
                    position: last?.position ?? .max, id: last?.id ?? .max,
                    lastFormerPosition: found.page.lastFormerPosition), date)
        }
    }

    func photo(_ id: PhotoID) async throws -> Photo {
        var picture = try await picture(id)
        if !picture.isExamined {
            await folder.metadataReader.waitForMetadata(of: picture.id)
            picture = try await self.picture(id)
        }
        return folder.marks.mark([folder.photo(picture)], for: user)[0]
    }

    func sources() async throws -> [Source] {
        try await folder.read { [folder, user, today = folder.today] index in
            func cover(_ photos: PictureIndex.Selection) throws -> PhotoID? {
                try index.page(photos, after: nil, count: 1).photos.first.map {
                    PhotoID(row: $0.id)
                }
            }
            let all = Source(
                id: LocalSource.all.id, title: Message("All photos"), kind: .feed,
                count: try index.photoCount, cover: try cover(.all))
            let likes = Source(
                id: LocalSource.likes.id, title: Message("Liked photos"), kind: .likes,
                count: folder.marks.count(of: user),
                cover: try cover(.rows(folder.marks.rows(of: user))))
            let memories = Source(
                id: LocalSource.memories.id, title: Message("Memories"), kind: .feed,
                count: try index.countMemories(of: today), cover: try cover(.memories(today)))
            return [all, likes, memories]
                + (try index.albums().map { album in
                    Source(
                        id: LocalSource.album(album.path).id,
                        title: album.path.title, kind: .album,
                        count: album.count, cover: PhotoID(row: album.cover))
                })
        }
    }

    func hasSource(_ id: SourceID) async throws -> Bool {
        guard let source = LocalSource(id) else { return false }
        guard case .album(let path) = source else { return true }
        return try await folder.read(until: { $0 }) { try $0.albumID(path) != nil }
    }

    func refresh(_ source: SourceID) async throws -> Int {
        guard let local = LocalSource(source) else { throw Self.noSource(source) }
        let changes: IndexChanges
        do {
            changes = try await folder.refresh()
        } catch is FileError {
            throw ProviderError.failed(Message("The pictures folder cannot be read."))
        } catch let error as StorageError {
            throw ProviderError(error)
        } catch let error where !(error is CancellationError || error is ProviderError) {
            throw ProviderError.failed(Message(error))
        }
        switch local {
        case .all: return changes.added.count
        // A scan finds no likes. They are reconciled after it.
        case .likes: return 0
        // New photos have no date of capture before they are read, in the background.
        case .memories:
            folder.updateMemories()
            return 0
        case .album(let path):
            // Until the first scan ends, a folder that is not in the index may still exist.
            if folder.canServeAll, try await !hasSource(source) { throw Self.noSource(source) }
            return changes.added.values.count { $0 == path }
        }
    }

    // MARK: Memories

    var datedSource: SourceID { LocalSource.memories.id }

    func setWatched(_ isWatched: Bool) { folder.setMemoriesWatched(isWatched, by: listener) }

    func clockChanged() { folder.updateMemories() }

    // MARK: Folders without events

    var hasUnreportedFolders: Bool { folder.state.withLock(\.hasUnreported) }

    func refreshUnreported() async { await folder.scanUnreported() }

    // MARK: Images

    func imagePath(_ photo: PhotoID, _ size: ImageSize) async throws -> String {
        try await withPicture(photo, size) { picture in
            guard let size = Thumbnails.size(size) else {
                return try await folder.servablePath(picture, id: photo)
            }
            return try await provider.thumbnails.path(
                of: folder.absolute(picture.path), picture.stamp, size)
        }
    }

    func openImage(_ photo: PhotoID, _ size: ImageSize) async throws -> Int32 {
        try await withPicture(photo, size) { picture in
            guard let size = Thumbnails.size(size) else {
                return try await folder.open(picture, id: photo)
            }
            return try await provider.thumbnails.open(
                folder.absolute(picture.path), picture.stamp, size)
        }
    }

    /// Calls `body` with a photo, and records whether its image could be decoded. If its file is absent, its path is
    /// reported, because no event may do that. It counts as unreadable while its file system is not mounted.
    private func withPicture<Value>(
        _ photo: PhotoID, _ size: ImageSize, _ body: (PictureIndex.File) async throws -> Value
    ) async throws -> Value {
        let picture = try await picture(photo)
        do {
            let value = try await body(picture)
            // The full size is the file itself.
            if size != .full { folder.recordDecoding(of: picture, nil) }
            return value
        } catch let error as ProviderError {
            if error.isDecodingFailure { folder.recordDecoding(of: picture, error.message) }
            guard case .notFound = error else { throw error }
            folder.watcher.report(picture.path)
            throw await folder.isNotMounted(picture.path) ? PictureFolder.noResponse : error
        }
    }

    // MARK: The likes, and the photos whose IDs are kept for the slideshow

    var likesSource: SourceID { LocalSource.likes.id }

    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> (photo: Photo, count: Int)? {
        let isNew = try await folder.marks.set(isLiked, by: user, below: folder.root) {
            try await self.picture(photo)
        }
        guard isNew else { return nil }
        // The metadata may be incomplete: a like does not wait for the metadata of the file.
        let picture = try await picture(photo)
        return (
            folder.marks.mark([folder.photo(picture)], for: user)[0],
            folder.marks.count(of: user)
        )
    }

    func setMarked(_ photos: Set<PhotoID>, _ mark: PhotoMark) async throws {
        let ids = Set(photos.compactMap(\.row))
        try await folder.marks.setAll(mark, ids, by: user, below: folder.root) { row in
            try await picture(PhotoID(row: row))
        }
    }

    // MARK: Avatar

    func setAvatar(_ file: String) async throws { try await provider.avatars.set(user, to: file) }

    // MARK: Parsing

    /// Returns the selection of photos in a source; `likes` returns the rows that the user likes, and `date` is the date
    /// of `memories`.
    private static func selection(
        _ source: SourceID, _ index: PictureIndex, _ date: CalendarDate?, likes: () -> [Int64]
    ) throws -> PictureIndex.Selection {
        switch LocalSource(source) {
        case .all: return .all
        case .likes: return .rows(likes())
        case .memories:
            guard let date else { throw noSource(source) }
            return .memories(date)
        case .album(let path):
            guard let album = try index.albumID(path) else { throw noSource(source) }
            return .folder(album)
        case nil: throw noSource(source)
        }
    }

    private func picture(_ id: PhotoID) async throws -> PictureIndex.File {
        try await folder.read { index in
            guard let row = id.row, let picture = try index.photo(row) else {
                throw PictureFolder.noPhoto(id)
            }
            return picture
        }
    }

    private static func noSource(_ source: SourceID) -> ProviderError {
        .notFound(Message("There is no source {source}.", ["source": source.text.quoted]))
    }

    /// Returns the cursor of a position. In `memories`, it begins with the date on which the walk began.
    private static func text(
        _ position: PictureIndex.IndexPosition, _ date: CalendarDate?
    ) -> String {
        (date.map { "\($0.text)." } ?? "")
            + "\(position.position).\(position.id).\(position.lastFormerPosition)"
    }

    private static func parse(
        _ cursor: String, isDated: Bool
    ) throws -> (position: PictureIndex.IndexPosition, date: CalendarDate?) {
        var parts = cursor.split(separator: ".", omittingEmptySubsequences: false)
        let date = isDated ? CalendarDate(parts.removeFirst()) : nil
        let numbers = parts.compactMap { Int64($0) }
        guard parts.count == 3, numbers.count == 3, numbers[2] >= 0, isDated == (date != nil)
        else { throw ProviderError.invalidArgument("The cursor is malformed.") }
        let position = PictureIndex.IndexPosition(
            position: numbers[0], id: numbers[1], lastFormerPosition: numbers[2])
        return (position, date)
    }
}

extension ProviderError {
    /// True if the image of a photo cannot be decoded, and a retry does not help.
    fileprivate var isDecodingFailure: Bool {
        if case .notSupported = self { return true }
        return [ImageProcessorError.damaged, .tooLarge].contains { $0.providerError == self }
    }
}

/// A source of local photos: all photos, an album, the likes of the user, or the photos of this day in earlier years.
enum LocalSource {
    case all
    case likes
    case memories
    case album(RelativePath)

    /// Parses the ID of a source; nil for an unknown one.
    init?(_ id: SourceID) {
        if let source = [LocalSource.all, .likes, .memories].first(where: { $0.id == id }) {
            self = source
            return
        }
        guard case ("album", let encoded)? = id.kindAndName,
            let path = RelativePath(percentEncoded: encoded)
        else { return nil }
        self = .album(path)
    }

    var id: SourceID {
        switch self {
        case .all: SourceID("all")
        case .likes: SourceID("likes")
        case .memories: SourceID("memories")
        case .album(let path): SourceID("album:" + path.percentEncoded)
        }
    }
}
