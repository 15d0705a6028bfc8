internal import ProviderKit

/// The account of a remote service.
protocol RemoteServiceOwner: AccountEventReceiver {
    /// True if only requests of clients may use the network.
    var savesData: Bool { get }
    /// The watches of the sources.
    var feedWatch: FeedWatch { get }

    func refreshProfile() async throws

    /// Called when the service limits requests until a time.
    func rateLimited(until: Timestamp?)
    func profileKnown(_ profile: Profile)
    /// Called when the service reported the user of the token.
    func identityReported(_ profile: Profile)
}
