package import ProviderKit

/// The likes of an account.
extension Account {
    /// A Boolean value that indicates whether photos can be liked.
    package var offersLikes: Bool {
        // During the start of the daemon, a client may call before the session exists.
        guard remote != nil || direct != nil else {
            return provider.info.capabilities.contains(.like)
        }
        return remote?.likes != nil || direct?.likes != nil
    }
    /// The photos whose like or unlike is in progress or queued.
    package var pendingLikes: [PhotoID] {
        guard let likes = remote?.likes, likes.isLoaded else { return pendingAtStart }
        return likes.pending
    }
    /// The number of photos that the user likes; 0 while it is unknown.
    package var likeCount: Int { remote?.likeCount ?? direct?.likeCount ?? 0 }

    /// Likes or unlikes a photo.
    package func setLiked(_ photo: String, _ isWanted: Bool) async throws -> LikeOutcome {
        if let direct {
            return try await reportingFailure(of: isWanted ? .like : .unlike, photo) {
                try await setLiked(photo, direct) { _ in isWanted }
            }.outcome
        }
        let all = try likes()
        return try await reportingFailure(of: isWanted ? .like : .unlike, photo) {
            (isWanted, try await all.set(PhotoID(photo), isWanted))
        }.outcome
    }

    /// Toggles the like of a photo. A pending like or unlike counts as confirmed.
    package func toggleLike(
        _ photo: String
    ) async throws -> (isLiked: Bool, outcome: LikeOutcome) {
        if let direct {
            return try await reportingFailure(of: .toggle, photo) {
                try await setLiked(photo, direct) { !$0 }
            }
        }
        let all = try likes()
        return try await reportingFailure(of: .toggle, photo) {
            try await all.toggle(PhotoID(photo))
        }
    }

    /// Changes a like at a provider that stores its likes, and announces the change.
    private func setLiked(
        _ photo: String, _ service: DirectService, _ wanted: @escaping (Bool) -> Bool
    ) async throws -> (isLiked: Bool, outcome: LikeOutcome) {
        let (isLiked, change) = try await service.setLiked(PhotoID(photo), wanted)
        // A change is not announced if the account was logged out in the meantime.
        if let change, direct === service {
            emit(.photosChanged([change.photo]))
            if let likes = service.likes?.likesSource {
                emit(.updated(likes, new: isLiked ? 1 : 0))
            }
            emit(.likeConfirmed(change.photo.id, isLiked: isLiked, likes: change.photo.likes ?? 0))
        }
        return (isLiked, .done)
    }

    private func likes() throws -> Likes {
        _ = try session()
        guard let likes = remote?.likes else {
            if let unusable = provider as? UnusableProvider {
                throw ProviderError.failed(unusable.condition.reason)
            }
            throw EngineError.notSupported("\(provider.info.name) has no likes.")
        }
        return likes
    }
}
