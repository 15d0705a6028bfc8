internal import Accounts
internal import ProviderKit

/// One search for the next photo and its limits. Photos are skipped whose images cannot be fetched.
///
/// This type only decides; ``Slideshow`` fetches.
nonisolated struct SlideshowSearch {
    /// The maximum number of images that are fetched.
    static let fetchLimit = 5
    /// The maximum number of images that are searched for in the cache.
    static let lookupLimit = 200
    /// The maximum number of pages of remote sources.
    static let pageLimit = 5

    enum Attempt {
        /// The image may be fetched.
        case fetch
        /// The image is used only if it is cached.
        case lookUp
        /// The photo is skipped.
        case stop
    }

    /// The time after which no other fetch begins, so that a call of a client does not outlive its timeout.
    let timeLimit: Duration
    /// True if no other source follows.
    var isLastSource = true
    /// The current photo, if it was found in a source, and the position after it if that is the last source. It is the
    /// last choice, because it would be shown twice in succession.
    var current: (id: CombinedPhotoID, cursor: String?)?
    /// The time of the beginning.
    var start = ContinuousClock.now
    private var fetches = 0
    private var lookups = 0
    private var pages = 0
    private var failedAccounts: Set<AccountID> = []
    /// The error of the last fetch that failed.
    private(set) var error: (any Error)?
    /// True if a photo was found and could not be shown.
    private(set) var hasSkipped = false

    init(timeLimit: Duration) { self.timeLimit = timeLimit }

    /// True if no other image is searched for.
    var isExhausted: Bool { lookups >= Self.lookupLimit }

    /// Decides about the next photo.
    ///
    /// - Parameters:
    ///   - id: The photo.
    ///   - mayFetch: True if the network may be used for its account.
    /// - Returns: The attempt, which is counted.
    mutating func attempt(_ id: CombinedPhotoID, mayFetch: Bool) -> Attempt {
        hasSkipped = true
        if mayFetch, fetches < Self.fetchLimit, mayFetchMore(of: id.account) {
            fetches += 1
            return .fetch
        }
        guard !isExhausted else { return .stop }
        lookups += 1
        return .lookUp
    }

    /// Decides if another page of a remote source is read.
    mutating func mayReadPage(of account: AccountID) -> Bool {
        guard pages < Self.pageLimit, mayFetchMore(of: account) else { return false }
        pages += 1
        return true
    }

    private func mayFetchMore(of account: AccountID) -> Bool {
        ContinuousClock.now - start < timeLimit && !failedAccounts.contains(account)
    }

    /// Records that an image could not be fetched.
    ///
    /// - Returns: True if the cause is the photo; false if the other photos of the account would fail, too. Only their
    ///   cached images are used from now on.
    mutating func recordFailure(_ error: any Error, of id: CombinedPhotoID) -> Bool {
        self.error = error
        let isOfPhoto = Self.isOfPhoto(error)
        if !isOfPhoto { failedAccounts.insert(id.account) }
        return isOfPhoto
    }

    /// Records that a page of an account could not be read.
    mutating func recordPageFailure(_ error: any Error, of account: AccountID) {
        failedAccounts.insert(account)
        // An account without the source has no photos; that is not an error of the account.
        guard !Slideshow.isGone(error) else { return }
        self.error = error
    }

    private static func isOfPhoto(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.notFound, ProviderError.failed, ProviderError.refused,
            ProviderError.denied, ProviderError.notSupported, ProviderError.invalidArgument,
            HTTPError.tooLarge, HTTPError.invalidAddress, HTTPError.forbiddenAddress,
            EngineError.notFound, EngineError.tooLarge:
            true
        default: false
        }
    }
}
