internal import Logging
internal import ProviderKit

// The events of the credentials, the cached feed and the likes.
extension RemoteService: LikesOwner, CredentialsOwner {
    var now: Timestamp { ports.now() }
    var clock: any Clock<Duration> { ports.clock }
    var localLikes: [PendingLike]? { likes?.localLikes }
    var savesData: Bool { owner?.savesData ?? false }

    func perform<Value: Sendable>(
        _ body: @escaping () async throws -> Value
    ) async throws -> Value {
        if case .rateLimited(let until) = health.problem(now: now) {
            throw ProviderError.rateLimited(until: until)
        }
        do {
            let value: Value
            do {
                value = try await body()
            } catch HTTPError.tooLarge {
                // A response of the API is never that large.
                throw ProviderError.failed(
                    "The service sent a response that is too large; try again later.")
            }
            record(.available)
            return value
        } catch {
            record(ServiceHealth.Verdict(error))
            throw error
        }
    }

    func credentialsChanged() {
        scheduleRetry()
        owner?.emit(.changed(.state))
        if credentials.problem == nil { likes?.send() }
    }

    func emit(_ event: AccountEvent) {
        switch event {
        case .photosChanged(let photos): owner?.emit(.photosChanged(photos.map(decorate)))
        case .changed(.likes):
            scheduleAvailabilityCheck()
            owner?.emit(event)
        case .likeConfirmed:
            if likesDenial != nil, localLikes == nil {
                likesDenial = nil
                owner?.emit(.changed(.state))
            }
            owner?.emit(event)
            refreshLikeCountIfDue()
        default: owner?.emit(event)
        }
    }

    func likesObserved(_ photos: [Photo]) {
        for photo in photos {
            // A like that is being sent is announced once, when it is confirmed.
            let isExpected = likes?.isExpected(photo.id, isLiked: photo.isLiked) == true
            likes?.recordObserved(photo.id, isLiked: photo.isLiked)
            guard !isExpected else { continue }
            owner?.emit(
                .likeConfirmed(photo.id, isLiked: photo.isLiked, likes: photo.likes ?? 0))
        }
        // If the service does not report the number of likes, it is the number of cached photos that are liked.
        Task {
            guard let count = try? await feed?.likeCount(), count != likeCount else { return }
            likeCount = count
            owner?.emit(.changed(.likes))
        }
    }

    func likeFailuresChanged() {
        let before = retryAt
        scheduleRetry()
        if retryAt != before { owner?.emit(.changed(.state)) }
    }

    func likesDenied(_ reason: String) {
        likesDenial = reason
        owner?.emit(.changed(.state))
        ports.logger.warning(
            "A service does not permit likes; they are stored locally",
            metadata: ["account": "\(account)", "reason": "\(reason)"])
    }

    func likeCountDoubted() {
        isProfileDue = true
        isCountDue = true
        refreshLikeCountIfDue()
    }

    /// Fetches the number of likes once no pending like would change it.
    private func refreshLikeCountIfDue() {
        guard isCountDue, likes?.pending.isEmpty == true else { return }
        isCountDue = false
        Task { await refreshLikeCount() }
    }
}
