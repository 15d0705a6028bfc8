internal import BusAPI
internal import DBus
internal import Engine
internal import ProviderKit

/// The D-Bus object of an account: `Account` and `Profile` always, `Feed` and `Like` while it is logged in.
final class AccountObject {
    let account: Account
    let exported: ExportedObject
    private let engine: Engine
    private let watchers: WatchingClients
    private var preparedPages = PreparedPageCache()
    /// The pages that are being made. Equal calls share one page.
    private var pagesInProgress:
        [PreparedPageCache.Key: (changes: Int, task: Task<PreparedReply, any Error>)] = [:]
    /// The size of the prepared replies, in bytes.
    var preparedBytes: Int { preparedPages.bytes }
    /// Called after a prepared reply was stored.
    var onPageStored: () -> Void = {}
    /// The number of pages that were made so far.
    private(set) var madePageCount = 0

    /// Exports an account.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - engine: The engine that has the account.
    ///   - watchers: Gets the clients that read first pages.
    init(_ account: Account, _ engine: Engine, _ watchers: WatchingClients) {
        self.account = account
        self.engine = engine
        self.watchers = watchers
        exported = ExportedObject(account.path)
        exported.add(Self.accountInterface, on: self)
        exported.add(Self.profileInterface, on: self)
        showFeed()
    }

    /// Adds or removes `Feed` and `Like`, and emits the changed properties.
    func update(_ change: AccountChange) {
        switch change {
        case .session: preparedPages.removeAll()
        case .likes, .feed: preparedPages.changeOfPhotos()
        case .settings, .state, .profile: break
        }
        showFeed()
        exported.announceChanges()
    }

    private func showFeed() {
        guard account.isLoggedIn else { return exported.remove([.feed, .like]) }
        if !exported.has(.feed) { exported.add(Self.feedInterface, on: self) }
        if account.offersLikes, !exported.has(.like) {
            exported.add(Self.likeInterface, on: self)
        }
    }

    // MARK: Account

    private static let accountInterface = BusInterface<AccountObject>(
        versioned: .account,
        [
            .asyncMethod("Logout") { try await $0.engine.logOut($0.account) },
            .asyncMethod("Remove") { try await $0.engine.remove($0.account) },
            .asyncMethod("Refresh") { try await $0.account.refresh() },
            .signal("TokenRemains", ["message"], String.self),
            .property("Id", emits: .constant) { $0.account.id.text },
            .property("Provider", emits: .constant) { $0.account.provider.info.path },
            .property("Username") { $0.account.identity.username },
            .property("Server") { $0.account.identity.server },
            .property("Label", { $0.account.label }) { try await $0.account.setLabel($1) },
            .property("State") { $0.account.state.name },
            .property("StateReason") { $0.account.state.reason },
            .property("Remedy") { $0.account.state.remedy?.rawValue ?? "" },
            .property("RetryAt") { $0.account.retryAt?.secondsSince1970 ?? 0 },
            .property("RateLimit") { $0.rateLimit },
        ])

    /// The remaining requests, the limit, and the time of the reset in Unix seconds; 0 for unknown values.
    private var rateLimit: BusStruct<UInt32, UInt32, Int64> {
        guard let limit = account.rateLimit else { return BusStruct(0, 0, 0) }
        return BusStruct(
            UInt32(clamping: limit.remaining), UInt32(clamping: limit.limit),
            limit.reset?.secondsSince1970 ?? 0)
    }

    // MARK: Profile

    private static let profileInterface = BusInterface<AccountObject>(
        versioned: .profile,
        [
            .asyncMethod("Refresh") { try await $0.account.refreshProfileIfStale() },
            .asyncMethod("SetAvatar", in: ["photo"]) { (object: AccountObject, photo: String) in
                try await object.account.setAvatar(photo)
            },
            .property("State") { $0.account.profileState.rawValue },
            .property("Username") { $0.account.profile.username },
            .property("Name") { $0.account.profile.name },
            .property("Bio") { $0.account.profile.bio },
            .property("Location") { $0.account.profile.location },
            .property("Url") { $0.account.profile.url },
            .property("Avatar") { $0.account.profile.avatar },
            .property("Editable") { $0.account.profile.isEditable },
        ])

    // MARK: Feed

    private static let feedInterface = BusInterface<AccountObject>(
        versioned: .feed,
        [
            .preparedMethod(
                "GetPage", in: ["source", "cursor", "count"], out: ["photos", "next"],
                returning: [PhotoEntry].self, String.self,
                prepared: {
                    (
                        object: AccountObject, caller: BusName?, source: String, cursor: String,
                        count: UInt32
                    ) in
                    object.preparedPage(object.key(source, cursor, count), for: caller)
                },
                {
                    (
                        object: AccountObject, caller: BusName?, source: String, cursor: String,
                        count: UInt32
                    ) in
                    try await object.page(source, cursor, count, for: caller)
                }),
            .asyncMethod("GetPhoto", in: ["photo"], out: ["properties"]) {
                (object: AccountObject, photo: String) -> PhotoEntry in
                PhotoEntry(try await object.account.photo(photo), account: object.account.path)
            },
            .asyncMethod("ListSources", out: ["sources"]) { (object) -> [SourceEntry] in
                try await object.account.sources().map(SourceEntry.init)
            },
            .asyncMethod("GetImage", in: ["photo", "size"], out: ["path"]) {
                (object: AccountObject, photo: String, size: String) -> String in
                try await object.account.imagePath(photo, size: size)
            },
            .asyncCallerMethod("OpenImage", in: ["photo", "size"], out: ["image"]) {
                (object: AccountObject, caller, photo: String, size: String) -> FileDescriptor in
                FileDescriptor(
                    owning: try await object.account.openImage(
                        photo, size: size, for: caller?.text ?? ""))
            },
            .asyncCallerMethod("Download", in: ["photo", "destination"], out: ["transfer"]) {
                (object: AccountObject, caller, photo: String, file: FileDescriptor) -> ObjectPath
                in
                let destination = try withExtendedLifetime(file) {
                    try TransferDestination(duplicating: file.rawValue)
                }
                return try await object.account.download(
                    photo, into: destination, for: caller?.text ?? ""
                ).path
            },
            .asyncMethod("Refresh", in: ["source"], out: ["new"]) {
                (object: AccountObject, source: String) -> UInt32 in
                UInt32(clamping: try await object.account.refreshFeed(source))
            },
            .signal("Updated", ["source", "new"], String.self, UInt32.self),
            .signal("PhotoChanged", ["photo", "changes"], String.self, [String: Variant].self),
            .signal("PhotosRemoved", ["photos"], [String].self),
            .property("DefaultSource", { $0.account.defaultSource.text }) {
                try await $0.account.setDefaultSource(SourceID($1))
            },
        ])

    private func key(_ source: String, _ cursor: String, _ count: UInt32) -> PreparedPageCache.Key {
        PreparedPageCache.Key(
            source: source.isEmpty ? account.defaultSource : SourceID(source), cursor: cursor,
            count: count)
    }

    /// Returns a prepared page, and refreshes its source in the background if it is out of date.
    private func preparedPage(_ key: PreparedPageCache.Key, for caller: BusName?) -> PreparedReply?
    {
        guard let reply = preparedPages.find(key, now: account.now) else { return nil }
        if key.cursor.isEmpty {
            account.preparedPageServed(key.source)
            watchers.firstPageRead(account, key.source, by: caller)
        }
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
            guard source.isEmpty, await account.checkDefaultSource() != key.source else {
                throw ProviderError.notFound(text)
            }
            key = self.key(source, cursor, count)
            reply = try await page(key, isWanted: true)
        }
        if cursor.isEmpty { watchers.firstPageRead(account, key.source, by: caller) }
        return reply
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
        let (photos, next) = try await account.page(
            key.source.text, cursor: key.cursor, count: Int(key.count))
        let path = account.path
        let reply = try PreparedReply(photos.map { PhotoEntry($0, account: path) }, next)
        // No event ends the validity of a page that depends on the date.
        guard !account.isDated(key.source) else { return reply }
        preparedPages.keep(
            reply, key, askedAt: changes, isWanted: isWanted,
            now: account.hasAgingPages ? account.now : nil)
        onPageStored()
        return reply
    }

    /// Makes the first pages of a source again if clients read them, so that they are prepared when the clients react
    /// to the change.
    func sourceChanged(_ source: SourceID) {
        for key in preparedPages.change(of: source) {
            // Complete when the call returns, unless the provider has to wait. An error is reported to the next caller.
            Task.immediate { _ = try? await page(key, isWanted: false) }
        }
    }

    func photosChanged() { preparedPages.changeOfPhotos() }

    /// Discards the prepared replies, to free memory.
    func discardPreparedReplies() { preparedPages.discardReplies() }
}
