internal import Contract
internal import DBus
internal import EngineCore
internal import EngineModel
internal import Feeds
internal import ProviderKit

/// The interfaces `Feed` and `Like` of a D-Bus object, with the prepared replies.
final class FeedObject {
    let photos: any PhotoFeed
    private let exported: ExportedObject
    private let watchers: FollowedClients
    var preparedPages = PreparedPageCache()
    /// The pages in progress. Equal calls share one page.
    private var pagesInProgress:
        [PreparedPageCache.Key: (changes: Int, task: Task<PreparedReply, any Error>)] = [:]
    /// Called after a prepared reply was stored.
    var onPageStored: () -> Void = {}
    /// The number of pages that were created so far.
    private(set) var madePageCount = 0

    /// - Parameters:
    ///   - photos: The photos.
    ///   - exported: The D-Bus object that has the interfaces.
    ///   - watchers: The clients that have read first pages.
    init(_ photos: any PhotoFeed, _ exported: ExportedObject, _ watchers: FollowedClients) {
        self.photos = photos
        self.exported = exported
        self.watchers = watchers
    }

    static let feedInterface = BusInterface<FeedObject>(
        versioned: .feed,
        [
            .preparedMethod(
                .getPage, in: ["source", "cursor", "count"], out: ["photos", "next"],
                returning: [PhotoEntry].self, String.self
            ) {
                (
                    object: FeedObject, call: BusMessage, source: String, cursor: String,
                    count: UInt32
                ) in
                let caller = call.sender
                let key = object.key(source, cursor, count)
                if let reply = object.preparedPage(key, for: caller) { return .finished(reply) }
                return .running { try await object.page(source, cursor, count, for: caller) }
            },
            .asyncMethod(.getPhoto, in: ["photo"], out: ["properties"]) {
                (object: FeedObject, photo: String) -> PhotoEntry in
                try await object.photos.call(photo) { account, photo in
                    object.photos.entry(try await account.photo(photo), of: account)
                }
            },
            .asyncMethod(.listSources, out: ["sources"]) { try await $0.photos.sources() },
            .asyncMethod(.getImage, in: ["photo", "size"], out: ["path"]) {
                (object: FeedObject, photo: String, size: String) -> String in
                try await object.photos.call(photo) { account, photo in
                    try await account.imagePath(photo, size: size)
                }
            },
            .asyncCallerMethod(.openImage, in: ["photo", "size"], out: ["image"]) {
                (object: FeedObject, caller, photo: String, size: String) -> FileDescriptor in
                let image = try await object.photos.call(photo) { account, photo in
                    try await account.openImage(photo, size: size, for: caller?.text ?? "")
                }
                return FileDescriptor(owning: image)
            },
            .asyncCallerMethod(.download, in: ["photo", "destination"], out: ["transfer"]) {
                (object: FeedObject, caller, photo: String, file: FileDescriptor) -> ObjectPath
                in
                let destination = try withExtendedLifetime(file) {
                    try TransferDestination(duplicating: file.rawValue)
                }
                let transfer = try await object.photos.call(photo) { account, photo in
                    try await account.download(photo, into: destination, for: caller?.text ?? "")
                }
                return transfer.path
            },
            .asyncMethod(.refresh, in: ["source"], out: ["new"]) {
                UInt32(clamping: try await $0.photos.refreshFeed($1))
            },
            .signal(.updated, ["source", "new"], String.self, UInt32.self),
            .signal(.photoChanged, ["photo", "changes"], String.self, [String: Variant].self),
            .signal(.photosChanged, ["photos"], [[String: Variant]].self),
            .signal(.photosRemoved, ["photos"], [String].self),
            .property(.defaultSource, { $0.photos.defaultSource.text }) {
                try await $0.photos.setDefaultSource(SourceID($1))
                $0.exported.announceChanges()
            },
        ])

    static let likeInterface = BusInterface<FeedObject>(
        versioned: .like,
        [
            .asyncMethod(.like, in: ["photo"], out: ["outcome"]) {
                try await $0.changeLike(of: $1, to: true).outcome.rawValue
            },
            .asyncMethod(.unlike, in: ["photo"], out: ["outcome"]) {
                try await $0.changeLike(of: $1, to: false).outcome.rawValue
            },
            .asyncMethod(.toggle, in: ["photo"], out: ["liked", "outcome"]) {
                (object: FeedObject, photo: String) -> (Bool, String) in
                let (isLiked, outcome) = try await object.changeLike(of: photo, to: nil)
                return (isLiked, outcome.rawValue)
            },
            .signal(.changed, ["photo", "liked", "likes"], String.self, Bool.self, UInt32.self),
            .signal(
                .failed, ["photo", "wanted", "error", "message"], String.self, Bool.self,
                String.self, String.self),
            .property(.pending) { $0.photos.pendingLikes.map(\.text) },
            .property(.count) { UInt32(clamping: $0.photos.likeCount) },
        ])

    private func changeLike(of photo: String, to isLiked: Bool?) async throws -> LikeReply {
        try await photos.call(photo) { account, photo in
            try await account.changeLike(of: photo, to: isLiked)
        }
    }

    // MARK: Pages

    private func key(_ source: String, _ cursor: String, _ count: UInt32) -> PreparedPageCache.Key {
        PreparedPageCache.Key(source: photos.resolve(source), cursor: cursor, count: count)
    }

    /// Returns a prepared page, and refreshes the sources of the accounts in the background if they are out of date.
    private func preparedPage(_ key: PreparedPageCache.Key, for caller: BusName?) -> PreparedReply?
    {
        guard let reply = preparedPages.find(key, now: photos.now) else { return nil }
        guard key.cursor.isEmpty else { return reply }
        photos.preparedPageServed(key.source)
        firstPageRead(key, by: caller)
        return reply
    }

    private func page(
        _ source: String, _ cursor: String, _ count: UInt32, for caller: BusName?
    ) async throws -> PreparedReply {
        var key = key(source, cursor, count)
        let reply: PreparedReply
        do {
            reply = try await page(key, isWanted: true)
        } catch ProviderError.notFound(let text) {
            // The default source may have been removed since the last check.
            guard source.isEmpty, await photos.hasReplaced(defaultSource: key.source) else {
                throw ProviderError.notFound(text)
            }
            key = self.key(source, cursor, count)
            reply = try await page(key, isWanted: true)
        }
        if cursor.isEmpty { firstPageRead(key, by: caller) }
        return reply
    }

    /// Records that a client read a first page: the client watches the sources of the accounts from then on.
    private func firstPageRead(_ key: PreparedPageCache.Key, by caller: BusName?) {
        guard let caller else { return }
        photos.watch(key.source, by: .client(caller.text))
        guard !watchers.contains(caller) else { return }
        Task { await watchers.add(caller) }
    }

    /// Creates a page, or waits for a page in progress with the same key.
    private func page(_ key: PreparedPageCache.Key, isWanted: Bool) async throws -> PreparedReply {
        let changes = preparedPages.changes
        if let (before, task) = pagesInProgress[key], before == changes {
            if isWanted { preparedPages.recordRequest(key) }
            return try await task.value
        }
        let task = Task.immediate { try await make(key, changes, isWanted: isWanted) }
        pagesInProgress[key] = (changes, task)
        defer { if pagesInProgress[key]?.task == task { pagesInProgress[key] = nil } }
        return try await task.value
    }

    private func make(
        _ key: PreparedPageCache.Key, _ changes: Int, isWanted: Bool
    ) async throws -> PreparedReply {
        madePageCount += 1
        let page = try await photos.page(key)
        let reply = try PreparedReply(page.photos, page.next)
        // An account that was left out is part of the page as soon as it can be read. No event ends the validity of a
        // page that depends on the date, and of one without photos that the next caller may find.
        let isFinal = !page.photos.isEmpty || page.next.isEmpty
        guard page.isComplete, isFinal, !photos.isDated(key.source) else { return reply }
        preparedPages.store(
            reply, key, requestedAt: changes, isWanted: isWanted,
            now: photos.hasAgingPages ? photos.now : nil)
        onPageStored()
        return reply
    }

    // MARK: Changes

    /// Announces an event of the photos and likes, and discards the pages that it invalidates.
    ///
    /// - Parameters:
    ///   - event: The event, with the IDs of this object. Updates of sources are announced by the owner.
    ///   - entry: Returns the D-Bus form of a photo.
    func announce(_ event: AccountEvent, entry: (Photo) -> PhotoEntry) {
        switch event {
        case .changed(.session): preparedPages.removeAll()
        case .changed(.likes), .changed(.feed): preparedPages.changeOfPhotos()
        case .photosChanged(let photos):
            preparedPages.changeOfPhotos()
            announceChanges(of: photos.map(entry))
        case .photosRemoved(let photos):
            preparedPages.changeOfPhotos()
            exported.emit(.feed, .photosRemoved, photos.map(\.text))
        case .likeConfirmed(let photo, let isLiked, let likes):
            exported.emit(.like, .changed, photo.text, isLiked, UInt32(clamping: likes))
        case .likeFailed(let photo, let isWanted, let error):
            let reply = ErrorTable.reply(error)
            exported.emit(.like, .failed, photo.text, isWanted, reply.name.text, reply.message)
        default: break
        }
    }

    /// The number of changed photos up to which each has a signal of its own.
    private static let separatePhotos = 10

    private func announceChanges(of photos: [PhotoEntry]) {
        guard photos.count <= Self.separatePhotos else {
            return exported.emit(.feed, .photosChanged, photos)
        }
        for var changes in photos {
            changes.isNamed = false
            exported.emit(.feed, .photoChanged, changes.id, changes)
        }
    }

    /// Creates the first pages of a source again if clients have read them, so that the replies are prepared when the
    /// clients react to the change.
    func sourceChanged(_ source: SourceID) {
        for key in preparedPages.change(of: source) {
            // The page is complete when this call returns, unless the provider has to wait. The next caller receives an
            // error.
            Task.immediate { _ = try? await page(key, isWanted: false) }
        }
    }
}
