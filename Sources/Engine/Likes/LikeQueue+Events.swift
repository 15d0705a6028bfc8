internal import ProviderKit

nonisolated extension LikeQueue {
    /// The change that a call makes.
    enum Change: Sendable {
        case set(Bool)
        case toggle
    }

    /// The result of a call: the wanted state, and its outcome.
    typealias Reply = (isLiked: Bool, outcome: LikeOutcome)

    /// An event that the owner reports.
    enum Event {
        /// The records are needed.
        case loadRequested
        case recordsRead(Result<LoadedRecords, any Error>)
        case called(CallID, PhotoID, Change)
        /// The result of ``Effect/readPhoto(_:_:)``: the liked state in the cache.
        case photoRead(CallID, Result<Bool, any Error>)
        /// The result of ``Effect/write(_:)``.
        case written(Result<Void, any Error>)
        /// The time limit of a call passed.
        case timedOut(CallID)
        /// The service is available, or deliveries may succeed after another change.
        case deliveryRequested
        /// The result of ``Effect/fetchPhoto(_:isCachedEnough:)``: the liked state at the service.
        case photoFetched(Result<Bool, any Error>)
        /// The result of ``Effect/send(_:)``: the number of likes of the photo, if the service reports it.
        case sent(Result<Int?, any Error>)
        /// The result of ``Effect/updateCache(_:)``.
        case cacheUpdated(CacheUpdate, CacheUpdateResult)
        /// The service reports another liked state of a photo than before.
        case observed(PhotoID, isLiked: Bool)
        /// A service without likes may have to be checked again.
        case availabilityCheckDue
        /// The user logged in again, or the provider was replaced: a service without likes is checked again.
        case availabilityUnknown
        /// A retry starts. If it fails, too, the next retry is later.
        case retryBegan
        case closed(Closing)
    }

    /// An action of the owner.
    enum Effect {
        /// Read the stored records, and the photos of the pending likes in the cache.
        case readRecords
        /// Read the photo of a call in the cache; fetch it if it is not there.
        case readPhoto(CallID, PhotoID)
        /// Write a record. The next write follows after the result of this one.
        case write(Write)
        /// Fetch a photo from the service. `isCachedEnough` is true if a cached photo is sufficient.
        case fetchPhoto(PhotoID, isCachedEnough: Bool)
        /// Send a like to the service, if ``LikeQueue/willSend(_:)`` still permits it.
        case send(PendingLike)
        /// Write the state of a like group to the cache.
        case updateCache(CacheUpdate)
        /// Reply to a call.
        case reply(CallID, Result<Reply, any Error>)
        /// Announce that the pending likes changed.
        case pendingChanged
        /// Announce the photos of a like group, which the call, if there is one, has read.
        case photosChanged(PhotoID, CallID?)
        /// Announce that a like is confirmed, or stored locally.
        case confirmed(CacheUpdate)
        /// Announce that a like failed.
        case failed(PendingLike, any Error)
        /// Announce that ``LikeQueue/consecutiveFailures`` may have changed.
        case failuresChanged
    }

    /// A change of the stored records.
    enum Write: Hashable, Sendable {
        /// Stores a pending like in place of an earlier one for the photo. `since` is nil if the cache cannot show
        /// later that the like was confirmed.
        case store(PendingLike, since: Timestamp?)
        /// Removes a pending like that was not sent and is no longer wanted.
        case withdraw(PendingLike)
        /// Removes a pending like that was confirmed or refused.
        case remove(PendingLike)
        /// Turns a pending like into a local one.
        case storeLocally(PendingLike, checked: Timestamp)
        /// Turns all local likes into pending ones.
        case resume
    }

    /// A change of the cache that follows a like that was confirmed or stored locally.
    struct CacheUpdate: Hashable, Sendable {
        let like: PendingLike
        /// The number of likes of the photo, if the service reported it.
        var likes: Int?
        var outcome = LikeOutcome.done
        /// True if the number of the user's likes changes as well; false if the service may have counted the like
        /// before.
        var isCounted: Bool
    }

    /// The result of a change of the cache.
    enum CacheUpdateResult {
        /// The cache shows the new state.
        case written
        /// The cache does not have the photo.
        case notCached
        case failed
    }

    /// The stored records when the session starts.
    struct LoadedRecords: Sendable {
        var pending: [Record] = []
        var local: [PendingLike] = []
        var unavailableSince: Timestamp?

        /// A pending like that was stored.
        struct Record: Sendable {
            var like: PendingLike
            /// The time at which the like was stored; nil if the outcome of an earlier like of the photo was unknown.
            var stored: Timestamp?
            /// The photo in the cache, if it is there.
            var cached: CachedLike?

            /// True if the cache shows that the service has confirmed the like.
            var isConfirmed: Bool {
                guard let stored, let cached else { return false }
                return cached.isLiked == like.isWanted && cached.confirmed >= stored
            }
        }
    }

    /// The liked state of a photo in the cache.
    struct CachedLike: Sendable {
        var isLiked: Bool
        /// The time of the last confirmation.
        var confirmed: Timestamp
    }
}

nonisolated extension LikeQueue.LoadedRecords {
    /// Creates the records from the stored likes and the cache.
    ///
    /// - Parameters:
    ///   - stored: The stored likes.
    ///   - cached: The photos of the pending likes that are in the cache.
    init(_ stored: LikeRecords, cached: [PhotoID: LikeQueue.CachedLike]) {
        pending = stored.pending.map { record in
            Record(like: record.like, stored: record.stored, cached: cached[record.like.photo])
        }
        local = stored.local
        unavailableSince = stored.unavailableSince
    }
}
