internal import BusAPI
internal import DBus
internal import Engine
internal import ProviderKit

/// The D-Bus object of the combined account: `Feed` and `Like` over all accounts that are logged in, and `Combined`.
final class CombinedObject {
    let exported = ExportedObject(ServiceName.combined)
    let feed: CombinedFeed
    private let watchers: WatchingClients
    private var preparedPages = PreparedPageCache()
    /// The pages that are being made. Equal calls share one page.
    private var pagesInProgress:
        [PreparedPageCache.Key: (changes: Int, task: Task<PreparedReply, any Error>)] = [:]
    /// The accounts with their default sources, as last announced.
    private var members: [Member] = []
    /// The number of pages that were made so far.
    private(set) var madePageCount = 0

    private struct Member: Equatable {
        let account: AccountID
        let source: SourceID
    }

    /// - Parameters:
    ///   - feed: The combined feed.
    ///   - watchers: Gets the clients that read first pages.
    init(_ feed: CombinedFeed, _ watchers: WatchingClients) {
        self.feed = feed
        self.watchers = watchers
        exported.add(Self.combinedInterface, on: self)
        exported.add(Self.feedInterface, on: self)
        exported.add(Self.likeInterface, on: self)
        members = currentMembers
    }

    private static let combinedInterface = BusInterface<CombinedObject>(
        versioned: .combined,
        [
            .property("Incomplete") { $0.feed.incomplete.map(\.path) }
        ])

    // MARK: Feed

    private static let feedInterface = BusInterface<CombinedObject>(
        versioned: .feed,
        [
            .preparedMethod(
                "GetPage", in: ["source", "cursor", "count"], out: ["photos", "next"],
                returning: [PhotoEntry].self, String.self,
                prepared: {
                    (
                        object: CombinedObject, caller: BusName?, source: String, cursor: String,
                        count: UInt32
                    ) in
                    object.preparedPage(object.key(source, cursor, count), for: caller)
                },
                {
                    (
                        object: CombinedObject, caller: BusName?, source: String, cursor: String,
                        count: UInt32
                    ) in
                    try await object.page(object.key(source, cursor, count), for: caller)
                }),
            .asyncMethod("GetPhoto", in: ["photo"], out: ["properties"]) {
                (object: CombinedObject, photo: String) -> PhotoEntry in
                PhotoEntry(try await object.feed.photo(photo))
            },
            .method("ListSources", out: ["sources"]) { (object) -> [SourceEntry] in
                object.feed.sources().map(SourceEntry.init)
            },
            .asyncMethod("GetImage", in: ["photo", "size"], out: ["path"]) {
                (object: CombinedObject, photo: String, size: String) -> String in
                try await object.feed.imagePath(photo, size: size)
            },
            .asyncCallerMethod("OpenImage", in: ["photo", "size"], out: ["image"]) {
                (object: CombinedObject, caller, photo: String, size: String) -> FileDescriptor in
                FileDescriptor(
                    owning: try await object.feed.openImage(
                        photo, size: size, for: caller?.text ?? ""))
            },
            .asyncCallerMethod("Download", in: ["photo", "destination"], out: ["transfer"]) {
                (object: CombinedObject, caller, photo: String, file: FileDescriptor) -> ObjectPath
                in
                let destination = try withExtendedLifetime(file) {
                    try TransferDestination(duplicating: file.rawValue)
                }
                return try await object.feed.download(
                    photo, into: destination, for: caller?.text ?? ""
                ).path
            },
            .asyncMethod("Refresh", in: ["source"], out: ["new"]) {
                (object: CombinedObject, source: String) -> UInt32 in
                UInt32(clamping: try await object.feed.refresh(source))
            },
            .signal("Updated", ["source", "new"], String.self, UInt32.self),
            .signal("PhotoChanged", ["photo", "changes"], String.self, [String: Variant].self),
            .signal("PhotosRemoved", ["photos"], [String].self),
            .property("DefaultSource", { $0.feed.defaultSource.text }) {
                try await $0.feed.setDefaultSource(SourceID($1))
                $0.exported.announceChanges()
            },
        ])

    private func key(_ source: String, _ cursor: String, _ count: UInt32) -> PreparedPageCache.Key {
        PreparedPageCache.Key(source: feed.resolve(source), cursor: cursor, count: count)
    }

    /// Returns a prepared page, and refreshes the sources of the accounts in the background if they are out of date.
    private func preparedPage(_ key: PreparedPageCache.Key, for caller: BusName?) -> PreparedReply?
    {
        guard let reply = preparedPages.find(key, now: feed.now) else { return nil }
        guard key.cursor.isEmpty else { return reply }
        feed.preparedPageServed()
        for (account, source) in feed.members(of: key.source) { account.preparedPageServed(source) }
        firstPageRead(key, by: caller)
        return reply
    }

    private func page(
        _ key: PreparedPageCache.Key, for caller: BusName?
    ) async throws -> PreparedReply {
        let reply = try await page(key, isWanted: true)
        if key.cursor.isEmpty { firstPageRead(key, by: caller) }
        return reply
    }

    /// Lets a client watch the sources of the accounts.
    private func firstPageRead(_ key: PreparedPageCache.Key, by caller: BusName?) {
        for (account, source) in feed.members(of: key.source) {
            watchers.firstPageRead(account, source, by: caller)
        }
    }

    /// Makes a page, or waits for a page in progress with the same key.
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
        let page = try await feed.page(
            key.source.text, cursor: key.cursor, count: Int(key.count))
        let reply = try PreparedReply(page.photos.map { PhotoEntry($0) }, page.next)
        // An account that was left out contributes as soon as it can. No event ends the validity of a page that depends
        // on the date.
        let isDated = feed.members(of: key.source).contains { $0.account.isDated($0.source) }
        if page.isComplete, !isDated {
            preparedPages.keep(
                reply, key, askedAt: changes, isWanted: isWanted,
                now: feed.hasAgingPages ? feed.now : nil)
        }
        return reply
    }

    // MARK: Changes

    private var currentMembers: [Member] {
        feed.members(of: CombinedFeed.all).map { Member(account: $0.account.id, source: $0.source) }
    }

    /// Announces that an account logged in or out, or has another default source. Has no effect otherwise.
    func updateMembers() {
        let members = currentMembers
        guard members != self.members else { return }
        self.members = members
        preparedPages.removeAll()
        for source in feed.sources() {
            exported.emit(.feed, "Updated", source.id.text, 0 as UInt32)
        }
        exported.announceChanges()
    }

    /// Announces an event of an account with the IDs of the combined account.
    func handle(_ event: AccountEvent, of account: Account) {
        guard account.isLoggedIn else { return }
        switch event {
        case .changed(let change):
            switch change {
            case .session: preparedPages.removeAll()
            case .likes, .feed: preparedPages.changeOfPhotos()
            case .settings, .state, .profile: break
            }
            exported.announceChanges()
        case .tokenRemains: break
        case .updated(let source, let new):
            for combined in feed.sources(containing: source, of: account) {
                sourceChanged(combined)
                exported.emit(.feed, "Updated", combined.text, UInt32(clamping: new))
            }
        case .photosChanged(let photos):
            preparedPages.changeOfPhotos()
            for photo in photos {
                var changes = PhotoEntry(CombinedPhoto(account, photo))
                changes.isNamed = false
                exported.emit(.feed, "PhotoChanged", changes.photo.id.text, changes)
            }
        case .photosRemoved(let photos):
            preparedPages.changeOfPhotos()
            exported.emit(.feed, "PhotosRemoved", photos.map { id(account, $0) })
        case .likeConfirmed(let photo, let isLiked, let likes):
            exported.emit(.like, "Changed", id(account, photo), isLiked, UInt32(clamping: likes))
        case .likeFailed(let photo, let isWanted, let error):
            let reply = ErrorTable.reply(error)
            exported.emit(
                .like, "Failed", id(account, photo), isWanted, reply.name.text, reply.message)
        }
    }

    private func id(_ account: Account, _ photo: PhotoID) -> String {
        CombinedPhotoID(account.id, photo).text
    }

    /// Makes the first pages of a source again if clients read them, so that they are prepared when the clients react
    /// to the change.
    private func sourceChanged(_ source: SourceID) {
        for key in preparedPages.change(of: source) {
            Task.immediate { _ = try? await page(key, isWanted: false) }
        }
    }
}

extension PhotoEntry {
    @MainActor init(_ photo: CombinedPhoto) { self.init(photo.photo, account: photo.account.path) }
}
