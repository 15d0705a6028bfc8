internal import Contract
internal import DBus
internal import ProviderKit

/// The likes of the user: requests, and failures until the user tries again.
final class LikeRequests {
    /// Emitted for each failure of a like or unlike, also of one that another client requested.
    let failed = Event<(photo: PhotoReference, wantsLike: Bool, sentence: String)>()
    /// Emitted once for each account whose service has likes and refuses those of this login.
    let stayedLocal = Event<AccountProperties>()
    private var localAccounts: Set<ObjectPath> = []
    private let service: Service
    /// The failures of calls that were already reported, until the signal for the same failure arrives.
    private var reported: Set<PhotoReference> = []

    init(_ service: Service) {
        self.service = service
        service.event.observe(self) { [weak self] in self?.receive($0.1, of: $0.account) }
    }

    /// Toggles the like of a photo. The photo shows the wanted state at once.
    func toggle(_ id: String, in feed: Feed) {
        guard let photo = feed.photo(id) else { return }
        set(!photo.wantsLike, id, in: feed)
    }

    /// Repeats a failed like, in a feed if it contains the photo.
    func retry(_ wantsLike: Bool, _ photo: PhotoReference, in feed: Feed?) {
        if let feed, let id = photo.id(in: feed.account), feed.photo(id) != nil {
            set(wantsLike, id, in: feed)
        } else {
            send(wantsLike, photo, in: nil)
        }
    }

    /// Likes or unlikes a photo. The photo shows the wanted state at once.
    func set(_ wantsLike: Bool, _ id: String, in feed: Feed) {
        feed.change(id) { $0.photo.isPending = $0.photo.isLiked != wantsLike }
        send(wantsLike, PhotoReference(id, in: feed.account), in: feed)
    }

    private func send(_ wantsLike: Bool, _ photo: PhotoReference, in feed: Feed?) {
        let client = service.client.account(photo.account)
        let id = feed.flatMap { photo.id(in: $0.account) } ?? photo.id
        reported.remove(photo)
        Task {
            do {
                let outcome = try await wantsLike ? client.like(photo.id) : client.unlike(photo.id)
                guard outcome != .queued else { return }
                if outcome == .local { reportLocal(photo.account) }
                feed?.change(id) {
                    $0.photo.isLiked = wantsLike
                    $0.photo.isPending = false
                }
            } catch {
                feed?.change(id) { $0.photo.isPending = false }
                report(photo, wantsLike, Problem(error).sentence)
            }
        }
    }

    private func reportLocal(_ path: ObjectPath) {
        guard let account = service.account(path), !service.isLocal(account),
            service.provider(of: account)?.has("like") == true,
            localAccounts.insert(path).inserted
        else { return }
        stayedLocal.emit(account)
    }

    private func receive(_ event: ServiceEvent, of account: ObjectPath) {
        // The combined account repeats the failures of the accounts.
        guard account != ServiceName.combined,
            case .likeFailed(let photo, let isWanted, let error, let message) = event
        else { return }
        let reply = (try? ErrorName(error)).map { ErrorReply($0, message) }
        let sentence = reply.map { BusError.reply($0).explanation() } ?? message
        report(PhotoReference(photo, in: account), isWanted, sentence)
    }

    private func report(_ photo: PhotoReference, _ wantsLike: Bool, _ sentence: String) {
        guard reported.insert(photo).inserted else { return }
        failed.emit((photo, wantsLike, sentence))
    }
}
