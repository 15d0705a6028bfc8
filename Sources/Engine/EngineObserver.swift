package import ProviderKit

/// A kind of change of an account, other than the changes that have their own function in ``EngineObserver``.
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

/// Whoever shows the engine to the world. Told of a change after it is stored.
package protocol EngineObserver: AnyObject {
    /// The default account, or whether the network is there, has changed.
    func engineChanged()
    func accountAdded(_ account: Account)
    func accountChanged(_ account: Account, _ change: AccountChange)
    func accountRemoved(_ account: Account)
    /// An account is about to be removed, and its token may remain in the keyring.
    func tokenRemains(_ account: Account, _ message: String)
    /// Photos came in at the top of a source, or left it.
    func feedUpdated(_ account: Account, _ source: SourceID, new: Int)
    func photosChanged(_ account: Account, _ photos: [Photo])
    func photosRemoved(_ account: Account, _ photos: [PhotoID])
    /// Whether a photo is liked is settled; how many like it now.
    func likeSettled(_ account: Account, _ photo: PhotoID, isLiked: Bool, likes: Int)
    /// A like or unlike was refused; the old state stands.
    func likeFailed(_ account: Account, _ photo: PhotoID, isWanted: Bool, _ error: any Error)
    /// A provider was installed, or another version of one.
    func providerAdded(_ provider: any Provider)
    /// A provider is not there any more.
    func providerRemoved(_ id: String)
    /// What is configured for a provider has changed, or how it is doing.
    func providerChanged(_ provider: any Provider)
    func loginAdded(_ login: Login)
    func loginChanged(_ login: Login)
    func loginRemoved(_ login: Login)
    func transferAdded(_ transfer: Transfer)
    /// State or error have changed, or, at most ten times a second, how far it has come.
    func transferChanged(_ transfer: Transfer)
    func transferRemoved(_ transfer: Transfer)
}
