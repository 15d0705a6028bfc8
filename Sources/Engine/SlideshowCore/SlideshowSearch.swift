internal import EngineModel
internal import ProviderKit

/// One search for the next photo and its limits. Photos are skipped whose images cannot be fetched.
///
/// This type only decides; ``Slideshow`` fetches.
nonisolated struct SlideshowSearch {
    /// The maximum number of images that are fetched from services in vain.
    static let fetchLimit = 5
    /// The maximum number of images that are searched for in the cache.
    static let lookupLimit = 200
    /// The maximum number of pages of remote sources.
    static let pageLimit = 5

    /// The time after which no other fetch begins, so that a call of a client does not outlive its timeout.
    let timeLimit: Duration
    /// True if any photo suffices, without its image.
    var isLook = false
    /// The photos that were attempted.
    var attempted: Set<CombinedPhotoID> = []
    /// The positions of the photos that were seen since ``begin()``.
    var positions: [Int64] = []
    /// The current photo, if it was found. It is the last choice, because it would be shown twice in succession.
    var current: Playlist.Entry?
    /// The round of the first photo that was seen.
    var firstRound: Int64?
    /// The number of times that photos had been added when the search last looked for them.
    var additionCount = 0
    /// The photos of the round that cannot be shown now. Those that were skipped belong to the next round.
    var rest: Set<CombinedPhotoID> = []
    /// True if any photo sufficed and there is one.
    var hasFound = false
    /// True if the search ended before the end of the source.
    var isOver = false
    /// True if images are no longer searched for in the cache.
    private(set) var isStopped = false
    /// True if there may be photos in pages that were not read.
    private(set) var isLimited = false
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

    init(timeLimit: Duration, isLook: Bool = false) {
        self.timeLimit = timeLimit
        self.isLook = isLook
    }

    /// True if no other fetch begins.
    var isTimeOver: Bool { ContinuousClock.now - start >= timeLimit }

    /// Begins with the first photo again.
    mutating func begin() {
        positions = []
        rest = []
    }

    /// Decides about the next photo.
    ///
    /// - Parameters:
    ///   - id: The photo.
    ///   - mayFetch: True if the network may be used for its account.
    ///   - isLocal: True if no service is asked for its image.
    /// - Returns: True if the image may be fetched, false if it is used only if it is cached, which is counted; nil if the
    ///   photo is skipped.
    mutating func attempt(_ id: CombinedPhotoID, mayFetch: Bool, isLocal: Bool = false) -> Bool? {
        hasSkipped = true
        if mayFetch, mayFetchImage(of: id.account, isLocal: isLocal) {
            if !isLocal { fetches += 1 }
            return true
        }
        guard lookups < Self.lookupLimit else {
            isStopped = true
            return nil
        }
        lookups += 1
        return false
    }

    /// Decides if another page of a remote source is read.
    mutating func mayReadPage(of account: AccountID) -> Bool {
        guard mayFetchMore(of: account) else { return false }
        return mayReadPage()
    }

    /// Decides if another page of remote sources is read.
    mutating func mayReadPage() -> Bool {
        isLimited = isLimited || pages >= Self.pageLimit
        guard !isLimited else { return false }
        pages += 1
        return true
    }

    /// Returns true if images of an account may still be fetched in this search.
    func mayFetchImage(of account: AccountID, isLocal: Bool) -> Bool {
        (isLocal || fetches < Self.fetchLimit) && mayFetchMore(of: account)
    }

    private func mayFetchMore(of account: AccountID) -> Bool {
        !isTimeOver && !failedAccounts.contains(account)
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
