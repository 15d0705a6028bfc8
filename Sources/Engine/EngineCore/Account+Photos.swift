internal import EngineModel
internal import Logging
package import ProviderKit
internal import Services
internal import Translation

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
    ///
    /// - Parameters:
    ///   - photo: The photo.
    ///   - isLiked: The new state; nil for the opposite of the present one. A pending like or unlike counts as confirmed.
    /// - Returns: The new state, and the outcome.
    /// - Throws: ``EngineError``, ``ProviderError``, ``HTTPError``.
    package func changeLike(of photo: String, to isLiked: Bool?) async throws -> LikeReply {
        let photos = try session()
        guard photos.likesSource != nil else {
            try provider.checkUsability()
            throw EngineError.notSupported(
                Message("{provider} has no likes.", ["provider": provider.info.name]))
        }
        let id = PhotoID(photo)
        do {
            let result = try await photos.setLiked(id, isLiked)
            // The like of a call that timed out may have been refused by now. Then its issue must not be resolved.
            if result.outcome != .queued || self.photos?.isLikePending(id) == true {
                engine.notifications.removeFailedLike(id, about: .account(self.id))
            }
            return result
        } catch {
            // The caller may not read the reply.
            reportFailedLike(id, isLiked, error)
            throw error
        }
    }
}

/// The avatar of an account.
extension Account {
    /// Uploads a photo as the user's avatar.
    ///
    /// - Parameter photo: The ID of a photo of this account, or `ACCOUNT/ID` for a photo of any other account that is
    ///   logged in.
    /// - Throws: ``EngineError/notSupported(_:)`` if the provider has no avatars; `ProviderError.notFound`; the errors
    ///   of fetching and decoding the image.
    package func setAvatar(_ photo: String) async throws {
        guard provider.info.capabilities.contains(.avatar) else {
            throw EngineError.notSupported(
                Message("{provider} does not support avatars.", ["provider": provider.info.name]))
        }
        let photos = try session()
        let (account, id) = accountAndID(of: photo)
        // A local photo is used in full size. For a remote photo, a smaller download is sufficient.
        let size = account.isLocal ? ImageSize.full : .regular
        try await photos.setAvatar(try await account.imagePath(id, size: size.rawValue))
        try await refreshProfile()
    }

    private func accountAndID(of photo: String) -> (account: Account, id: String) {
        guard let id = CombinedPhotoID(photo), let account = engine.accounts[id.account] else {
            return (self, photo)
        }
        return (account, id.photo.text)
    }
}

// The events of the service.
extension Account {
    /// Handles an event of the session, and passes it on.
    func emit(_ event: AccountEvent) {
        engine.emit(.account(self, event))
        switch event {
        case .changed(.state): feedWatch.update()
        // The number of likes and the pending likes changed as well.
        case .likeConfirmed: emit(.changed(.likes))
        default: break
        }
    }

    /// Handles a report of the service of the account.
    func handle(_ report: ServiceReport) {
        switch report {
        case .event(let event): emit(event)
        case .profile(let profile): show(profile, .ready)
        case .profileFailed: show(profile, .failed)
        case .user(let profile): updateIdentity(profile)
        case .refreshed(let source): feedWatch.sourceRefreshed(source)
        case .rateLimited(let until):
            for account in engine.accounts(sharingLimitsOf: self) where account !== self {
                account.service?.limit(until: until)
            }
        }
    }

    /// Applies the identity of the user of the token, as the service reported it.
    private func updateIdentity(_ profile: Profile) {
        // Without an ID, a new name is no proof of a rename.
        guard
            let userID = AccountIdentity(username: profile.username, userID: profile.userID).userID,
            identity.userID == nil || identity.userID == userID
        else { return }
        let reported = AccountIdentity(
            username: profile.username, server: identity.server, userID: userID)
        guard reported != identity else { return }
        Task { [engine] in
            do {
                try await engine.accounts.update(self) { $0.update(reported) }
            } catch {
                // The next response reports the identity again.
                engine.ports.logger.notice(
                    "The user ID cannot be stored", metadata: ["error": "\(error)"])
            }
        }
    }
}
