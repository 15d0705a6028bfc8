package import ProviderKit

/// The likes of an account.
extension Account {
    /// A Boolean value that indicates whether photos can be liked.
    package var offersLikes: Bool {
        // During the start of the daemon, a client may call before the session exists.
        guard let photos else { return provider.info.capabilities.contains(.like) }
        return photos.likesSource != nil
    }
    /// The photos whose like or unlike is in progress or queued.
    package var pendingLikes: [PhotoID] { photos?.pendingLikes ?? pendingAtStart }
    /// The number of photos that the user likes; 0 while it is unknown.
    package var likeCount: Int { photos?.likeCount ?? 0 }

    /// Likes or unlikes a photo.
    package func setLiked(_ photo: String, _ isWanted: Bool) async throws -> LikeOutcome {
        try await changeLike(of: photo, to: isWanted).outcome
    }

    /// Toggles the like of a photo. A pending like or unlike counts as confirmed.
    package func toggleLike(
        _ photo: String
    ) async throws -> (isLiked: Bool, outcome: LikeOutcome) {
        try await changeLike(of: photo, to: nil)
    }

    private func changeLike(
        of photo: String, to isLiked: Bool?
    ) async throws -> (isLiked: Bool, outcome: LikeOutcome) {
        let photos = try session()
        guard photos.likesSource != nil else {
            if let unusable = provider as? UnusableProvider {
                throw ProviderError.failed(unusable.condition.reason)
            }
            throw EngineError.notSupported("\(provider.info.name) has no likes.")
        }
        let action = isLiked.map { $0 ? FailedLike.Action.like : .unlike } ?? .toggle
        return try await reportingFailure(of: action, photo) {
            try await photos.setLiked(PhotoID(photo), isLiked)
        }
    }
}
