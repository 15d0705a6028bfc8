internal import BusAPI
internal import DBus
internal import Engine
internal import ProviderKit

/// The D-Bus object of the combined account: `Feed` and `Like` over all accounts that are logged in, and `Combined`.
final class CombinedObject {
    let exported = ExportedObject(ServiceName.combined)
    let combined: CombinedFeed
    /// The interfaces `Feed` and `Like`.
    let feed: FeedObject
    /// The accounts with their default sources, as last announced.
    private var members: [Member] = []
    /// The numbers of new photos in sources whose updates have not been announced yet.
    private var updates: [SourceID: Int] = [:]

    private struct Member: Equatable {
        let account: AccountID
        let source: SourceID
    }

    /// - Parameters:
    ///   - combined: The combined feed.
    ///   - watchers: The clients that have read first pages.
    init(_ combined: CombinedFeed, _ watchers: FollowedClients) {
        self.combined = combined
        feed = FeedObject(combined, exported, watchers)
        exported.add(Self.combinedInterface, on: self)
        exported.add(FeedObject.feedInterface, on: feed)
        exported.add(FeedObject.likeInterface, on: feed)
        members = currentMembers
    }

    private static let combinedInterface = BusInterface<CombinedObject>(
        versioned: .combined,
        [
            .property("Incomplete") { $0.combined.incomplete.map(\.path) }
        ])

    // MARK: Changes

    private var currentMembers: [Member] {
        combined.members(of: CombinedFeed.all).map {
            Member(account: $0.account.id, source: $0.source)
        }
    }

    /// Announces that an account logged in or out, or has another default source. Has no effect otherwise.
    func updateMembers() {
        let members = currentMembers
        guard members != self.members else { return }
        self.members = members
        feed.discardPages()
        for source in combined.sources() {
            exported.emit(.feed, "Updated", source.id.text, 0 as UInt32)
        }
        exported.announceChanges()
    }

    /// Announces an event of an account with the IDs of the combined account.
    func handle(_ event: AccountEvent, of account: Account) {
        guard account.isLoggedIn else { return }
        switch event {
        case .changed(let change):
            feed.update(change)
            exported.announceChanges()
        case .tokenRemains: break
        case .updated(let source, let new):
            for source in combined.sources(containing: source, of: account) {
                feed.sourceChanged(source)
                announceUpdate(of: source, new: new)
            }
        case .photosChanged(let photos):
            feed.photosChanged()
            exported.emitChanges(of: photos.map { PhotoEntry(CombinedPhoto(account, $0)) })
        case .photosRemoved(let photos):
            feed.photosChanged()
            exported.emit(.feed, "PhotosRemoved", photos.map { id(account, $0) })
        case .likeConfirmed(let photo, let isLiked, let likes):
            exported.emit(.like, "Changed", id(account, photo), isLiked, UInt32(clamping: likes))
        case .likeFailed(let photo, let isWanted, let error):
            let id = CombinedPhotoID(account.id, photo)
            let reply = ErrorTable.reply(id.translating(error))
            exported.emit(.like, "Failed", id.text, isWanted, reply.name.text, reply.message)
        }
    }

    /// Announces an update after the events that are in the main queue now. A change of the pictures folder updates each
    /// local account, and clients then read the first page once.
    private func announceUpdate(of source: SourceID, new: Int) {
        if updates.isEmpty { Task { @MainActor [weak self] in self?.announceUpdates() } }
        updates[source, default: 0] += new
    }

    private func announceUpdates() {
        for (source, new) in updates {
            exported.emit(.feed, "Updated", source.text, UInt32(clamping: new))
        }
        updates = [:]
    }

    private func id(_ account: Account, _ photo: PhotoID) -> String {
        CombinedPhotoID(account.id, photo).text
    }
}

extension PhotoEntry {
    @MainActor init(_ photo: CombinedPhoto) { self.init(photo.photo, account: photo.account.path) }
}
