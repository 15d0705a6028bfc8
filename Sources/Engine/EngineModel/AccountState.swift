package import ProviderKit
package import Translation

/// The state of an account, as reported to clients.
nonisolated package enum AccountState: Hashable, Sendable {
    case ready
    case loading(reason: Message)
    case offline(reason: Message)
    case rateLimited(until: Timestamp)
    /// The secret store is locked, is missing or does not work.
    case locked(reason: Message, remedy: Remedy)
    /// The service refused the token.
    case needsLogin(reason: Message)
    case failed(reason: Message, remedy: Remedy?)
    case loggedOut

    /// The state that the session of an account reports.
    package init(_ status: SessionStatus) {
        self =
            switch status {
            case .ready: .ready
            case .loading(let reason): .loading(reason: reason)
            case .failed(let reason, let remedy): .failed(reason: reason, remedy: remedy)
            }
    }

    /// The action of the user that ends the state; nil if there is none, or if the state ends without one.
    package var remedy: Remedy? {
        switch self {
        case .ready, .loading, .offline, .rateLimited: nil
        case .locked(_, let remedy): remedy
        case .needsLogin, .loggedOut: .login
        case .failed(_, let remedy): remedy
        }
    }
}

/// The state of the profile of an account.
package enum ProfileState: String {
    /// The profile of this session is not known yet.
    case loading
    /// The profile is the one that the service reported last, possibly in an earlier session.
    case ready
    /// The last attempt to fetch the profile failed.
    case failed
}

/// An event of an account.
///
/// The cached feed and the likes of an account emit it to the remote service, which emits it to the account, which
/// emits it to the engine.
nonisolated package enum AccountEvent: Sendable {
    case changed(AccountChange)
    /// Photos were added at the top of a source; 0 if photos were only removed or moved.
    case updated(SourceID, new: Int)
    case photosChanged([Photo])
    case photosRemoved([PhotoID])
    /// A like or unlike was confirmed by the service, or stored locally; or the service reports another liked state
    /// than before. `likes` is the number of likes of the photo.
    case likeConfirmed(PhotoID, isLiked: Bool, likes: Int)
    /// A like or unlike was refused; the old state remains.
    case likeFailed(PhotoID, isWanted: Bool, any Error)
    /// The account is about to be removed, and its token may remain in the keyring, or remain valid at the service. The
    /// text is a message for the user.
    case tokenRemains(String)

    /// Returns the event with the IDs of the combined account in place of those of an account.
    package func combined(of account: AccountID) -> AccountEvent {
        func id(_ photo: PhotoID) -> CombinedPhotoID { CombinedPhotoID(account, photo) }
        return switch self {
        case .changed, .updated, .tokenRemains: self
        case .photosChanged(let photos): .photosChanged(photos.map { $0.combined(of: account) })
        case .photosRemoved(let photos): .photosRemoved(photos.map { id($0).asPhotoID })
        case .likeConfirmed(let photo, let isLiked, let likes):
            .likeConfirmed(id(photo).asPhotoID, isLiked: isLiked, likes: likes)
        case .likeFailed(let photo, let isWanted, let error):
            .likeFailed(id(photo).asPhotoID, isWanted: isWanted, id(photo).translating(error))
        }
    }
}

/// A kind of change of an account, other than the changes that have a separate ``AccountEvent``.
nonisolated package enum AccountChange: Hashable, Sendable {
    /// The session began, ended or was replaced, or the settings of the provider changed. Pages that were read
    /// before must not be served any longer.
    case session
    /// The label or the default source.
    case settings
    /// The state, its reason, the time of the next retry, or the rate limit.
    case state
    /// The profile, or its state.
    case profile
    /// The pending likes, or the number of likes.
    case likes
    /// Photos were added below the top of a source.
    case feed
}
