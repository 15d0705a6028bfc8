internal import EngineModel
internal import Feeds
internal import Likes
internal import Logging
package import ProviderKit
internal import Translation

// The events of the credentials, the cached feed and the likes.
extension RemoteService {
    var now: Timestamp { stores.now() }
    var clock: any Clock<Duration> { stores.clock }
    /// The local likes and unlikes, the latest first.
    var localLikes: [OutboxRow] { likes?.outbox.local.reversed() ?? [] }

    /// Sends requests unless the service limits them, and records the result.
    func perform<Value: Sendable>(
        _ body: @escaping () async throws -> Value
    ) async throws -> Value {
        if case .rateLimited(let until) = health.problem(now: now) {
            throw ProviderError.rateLimited(until: until)
        }
        do {
            let value = try await body()
            endReportedState()
            record(.available)
            return value
        } catch HTTPError.tooLarge {
            // A response of the API is never that large.
            let reason = Message("The service sent a response that is too large; try again later.")
            record(.failed(reason))
            throw ProviderError.failed(reason)
        } catch {
            record(ServiceHealth.Verdict(error))
            throw error
        }
    }

    func credentialsChanged() {
        scheduleRetry()
        report(.event(.changed(.state)))
        if credentials.problem == nil { likes?.deliver() }
    }

    /// Handles an event of the cached feed or of the likes, and passes it on.
    func emit(_ event: AccountEvent) {
        switch event {
        // A request that was in progress has the photos as they are with the settings of this session.
        case .photosChanged where isClosed: break
        case .photosChanged(let photos): report(.event(.photosChanged(photos.map(decorate))))
        case .likeConfirmed:
            if likesDenial != nil, likes?.isUnavailable == false {
                likesDenial = nil
                report(.event(.changed(.state)))
            }
            report(.event(event))
            refreshLikeCountIfDue()
        default: report(.event(event))
        }
    }

    /// Called when the service reported other liked states of photos than before, or when photos were added or removed.
    func likesObserved(_ photos: [Photo]) {
        for photo in photos {
            // A like that is being sent is announced once, when it is confirmed.
            guard likes?.outbox[photo.id]?.isWanted != photo.isLiked else { continue }
            report(
                .event(.likeConfirmed(photo.id, isLiked: photo.isLiked, likes: photo.likes ?? 0)))
        }
        updateLikeCount()
    }

    /// Reads the stored number of likes. If the service does not report the number, it is the number of cached photos that
    /// are liked.
    func updateLikeCount() {
        Task {
            let count = try? await stores.feeds.read(account) { try $0.likeCount() }
            guard !isClosed, let count, count != likeCount else { return }
            likeCount = count
            report(.event(.changed(.likes)))
        }
    }

    /// Called after the pending likes were sent, or the attempt failed.
    func likesSent(isComplete: Bool) {
        let before = retryAt
        health.setWaitingLikes(!isComplete)
        scheduleRetry()
        if retryAt != before { report(.event(.changed(.state))) }
    }

    /// Called when the service does not permit likes to the account.
    func likesDenied(_ reason: Message) {
        likesDenial = reason
        report(.event(.changed(.state)))
        stores.logger.warning(
            "A service does not permit likes; they are stored locally",
            metadata: ["account": "\(account)", "reason": "\(reason)"])
    }

    /// Called when the service may have counted a like before it was confirmed: the number of likes must be fetched.
    func likeCountDoubted() {
        isProfileDue = true
        isCountDue = true
        refreshLikeCountIfDue()
    }

    /// Fetches the number of likes once no pending like would change it.
    private func refreshLikeCountIfDue() {
        guard isCountDue, likes?.outbox.pending.isEmpty == true else { return }
        isCountDue = false
        Task {
            // The number of the service then replaces the one that was counted here.
            try? await stores.feeds.run(account) { try $0.trustLikeCount() }
            await probe()
        }
    }
}

// The likes and the watches of an account.
extension RemoteService {
    package var likesSource: SourceID? { feed?.likesSource }
    package var pendingLikes: [PhotoID]? {
        likes.flatMap { $0.isLoaded ? $0.outbox.pending.map(\.photo) : nil }
    }
    package func isLikePending(_ photo: PhotoID) -> Bool { likes?.outbox.isPending(photo) == true }

    package func setLiked(_ photo: PhotoID, _ isLiked: Bool?) async throws -> LikeReply {
        guard let likes else {
            throw EngineError.notSupported(Message("This service has no likes."))
        }
        return try await likes.change(photo, isLiked)
    }

    package func checkLikesAgain() { likes?.checkAvailabilityAgain() }

    package func recordRead(_ source: SourceID) { feed?.recordRead(source) }
    package func refreshWatched(_ source: SourceID) async { await feed?.refreshWatched(source) }

    // No photos of a service depend on the date alone.
    package var datedSource: SourceID? { nil }
    package func setWatched(_ isWatched: Bool) {}
}
