internal import Contract
internal import DBus
internal import EngineCore
internal import EngineModel
internal import ProviderKit

/// The D-Bus object of the combined account: `Feed` and `Like` over all accounts that are logged in, and `Combined`.
final class CombinedObject {
    let exported = ExportedObject(ServiceName.combined)
    let combined: CombinedFeed
    /// The interfaces `Feed` and `Like`.
    let feed: FeedObject
    /// The accounts with their default sources, as last announced.
    private var members: [(AccountID, SourceID)] = []
    /// The numbers of new photos in sources whose updates have not been announced yet.
    private var updates: [SourceID: Int] = [:]

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
            .property(.incomplete) { $0.combined.incomplete.map(\.path) }
        ])

    // MARK: Changes

    private var currentMembers: [(AccountID, SourceID)] {
        combined.members(of: CombinedFeed.all).map { ($0.account.id, $0.source) }
    }

    /// Announces that an account logged in or out, or has another default source. Has no effect otherwise.
    func updateMembers() {
        let members = currentMembers
        guard !members.elementsEqual(self.members, by: { $0 == $1 }) else { return }
        // The other sources do not contain the default sources.
        let hasSameAccounts = members.elementsEqual(self.members) { $0.0 == $1.0 }
        self.members = members
        feed.preparedPages.removeAll()
        for source in combined.sources() where source.id == CombinedFeed.all || !hasSameAccounts {
            announceUpdate(of: source.id, new: 0)
        }
        exported.announceChanges()
    }

    /// Announces an event of an account with the IDs of the combined account.
    func handle(_ event: AccountEvent, of account: Account) {
        guard account.isLoggedIn else { return }
        let path = account.path
        feed.announce(event.combined(of: account.id)) { PhotoEntry($0, account: path) }
        switch event {
        case .changed: exported.announceChanges()
        case .updated(let source, let new):
            for source in combined.sources(containing: source, of: account) {
                feed.sourceChanged(source)
                announceUpdate(of: source, new: new)
            }
        default: break
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
            exported.emit(.feed, .updated, source.text, UInt32(clamping: new))
        }
        updates = [:]
    }
}
