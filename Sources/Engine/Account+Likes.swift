package import ProviderKit

/// What the user likes.
extension Account {
    /// Whether photos can be liked.
    package var offersLikes: Bool {
        // While the program starts, a client may be faster than the session.
        guard remote != nil || direct != nil else {
            return provider.info.capabilities.contains(.like)
        }
        return remote?.likes != nil || direct?.likes != nil
    }
    /// Photos whose like or unlike is on its way or queued.
    package var pendingLikes: [PhotoID] {
        guard let likes = remote?.likes, likes.isLoaded else { return pendingAtStart }
        return likes.pending
    }
    /// How many photos the user likes, as far as that is known.
    package var likeCount: Int { remote?.likeCount ?? direct?.likeCount ?? 0 }

    package func setLiked(_ photo: String, _ isWanted: Bool) async throws -> LikeOutcome {
        if let direct {
            return try await noticing(photo, isWanted ? .like : .unlike) {
                try await settle(photo, direct) { _ in isWanted }
            }.outcome
        }
        let all = try likes()
        return try await noticing(photo, isWanted ? .like : .unlike) {
            (isWanted, try await all.set(PhotoID(photo), isWanted))
        }.outcome
    }

    package func toggleLike(
        _ photo: String
    ) async throws -> (isLiked: Bool, outcome: LikeOutcome) {
        if let direct {
            return try await noticing(photo, .toggle) { try await settle(photo, direct) { !$0 } }
        }
        let all = try likes()
        return try await noticing(photo, .toggle) { try await all.toggle(PhotoID(photo)) }
    }

    /// Has a provider that keeps likes itself do so, and tells of it.
    private func settle(
        _ photo: String, _ service: DirectService, _ wanted: @escaping (Bool) -> Bool
    ) async throws -> (isLiked: Bool, outcome: LikeOutcome) {
        let (isLiked, change) = try await service.setLiked(PhotoID(photo), wanted)
        // Nobody is told of an account that was logged out meanwhile.
        if let change, direct === service {
            photosChanged([change.photo])
            if let likes = service.likes?.likesSource { feedUpdated(likes, new: isLiked ? 1 : 0) }
            likeConfirmed(change.photo.id, isLiked, likes: change.photo.likes ?? 0)
        }
        return (isLiked, .done)
    }

    private func likes() throws -> Likes {
        _ = try session()
        guard let likes = remote?.likes else {
            throw EngineError.notSupported("\(provider.info.name) has no likes.")
        }
        return likes
    }
}
