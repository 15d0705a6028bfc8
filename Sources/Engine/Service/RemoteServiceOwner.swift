internal import ProviderKit

/// The account of a remote service.
protocol RemoteServiceOwner: AnyObject {
    /// True if only requests of clients may use the network.
    var savesData: Bool { get }

    /// The state, its reason, the rate limit or the time of the next retry may have changed.
    func serviceChanged()
    /// The service limits requests until a time.
    func rateLimited(until: Timestamp?)
    func profileKnown(_ profile: Profile)
    /// The service reported the user of the token.
    func identityReported(_ profile: Profile)
    func refreshProfile() async throws
    /// Returns true if at least one client or component watches the source.
    func isWatched(_ source: SourceID) -> Bool
    /// The top of a source was fetched.
    func sourceRefreshed(_ source: SourceID)
    func feedUpdated(_ source: SourceID, new: Int)
    func feedGrew()
    func photosChanged(_ photos: [Photo])
    func photosRemoved(_ photos: [PhotoID])
    func likesChanged()
    func likeConfirmed(_ photo: PhotoID, _ isLiked: Bool, likes: Int)
    func likeFailed(_ photo: PhotoID, _ isWanted: Bool, _ error: any Error)
}
