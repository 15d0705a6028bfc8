internal import BusAPI
internal import DBus

/// The likes of the user: requests, and failures until the user tries again.
final class Likes {
    /// The failure of a like or unlike.
    struct Failure {
        let account: ObjectPath
        let photo: String
        let wantsLike: Bool
        let sentence: String
    }

    /// Emitted for each failure, also of a like that another client requested.
    let failed = Event<Failure>()
    private let service: Service
    /// The failures of calls that were already reported, until the signal for the same failure arrives.
    private var reported: Set<String> = []

    init(_ service: Service) {
        self.service = service
        service.feedSignal.observe(self) { [weak self] in self?.receive($0) }
    }

    /// Toggles the like of a photo. The photo shows the wanted state at once.
    func toggle(_ id: String, in feed: Feed) {
        guard let photo = feed.photo(id) else { return }
        set(!photo.wantsLike, id, in: feed)
    }

    /// Likes or unlikes a photo.
    func set(_ wantsLike: Bool, _ id: String, in feed: Feed) {
        feed.change(id) { $0.isPending = $0.isLiked != wantsLike }
        let client = feed.client
        reported.remove(id)
        Task {
            do {
                let outcome = try await wantsLike ? client.like(id) : client.unlike(id)
                guard outcome != LikeOutcome.queued.rawValue else { return }
                feed.change(id) {
                    $0.isLiked = wantsLike
                    $0.isPending = false
                }
            } catch {
                feed.change(id) { $0.isPending = false }
                report(feed.account, id, wantsLike, Problem(error).sentence)
            }
        }
    }

    private func receive(_ signal: Service.FeedSignal) {
        guard signal.member == "Failed",
            let (id, wantsLike, _, sentence): (String, Bool, String, String) = try? signal.message
                .read()
        else { return }
        // The combined account reports the same failure again.
        guard signal.account == ServiceName.combined || service.account(ServiceName.combined) == nil
        else { return }
        report(signal.account, id, wantsLike, sentence)
    }

    private func report(_ account: ObjectPath, _ id: String, _ wantsLike: Bool, _ sentence: String)
    {
        guard reported.insert(id).inserted else { return }
        failed.emit(Failure(account: account, photo: id, wantsLike: wantsLike, sentence: sentence))
    }
}
