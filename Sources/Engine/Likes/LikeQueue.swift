package import ProviderKit

/// The likes of one account that the service has not confirmed, and the likes that are stored locally.
///
/// This type only decides; its owner, ``Likes``, acts. Each event returns the effects that the owner performs, in
/// their order, and each asynchronous effect ends with an event. The type starts no task, and reads no clock
/// and no file. Events may arrive in any order; an event for something that has ended has no effect.
///
/// - A like is stored before it is sent.
/// - One record is written at a time, and one like is delivered at a time.
/// - For each like group, calls are decided in the order of their arrival. The last call sets the wanted state.
nonisolated package struct LikeQueue {
    /// The number of a call, unique within the queue.
    package typealias CallID = Int

    /// A pending like that is stored.
    package struct Entry {
        package var like: PendingLike
        /// The last state that the service is known to have had; nil if it is unknown.
        var known: Bool?
        /// False if the photo has to be fetched before the like is sent, because it is not in the cache.
        var isCached = true
        /// True if the cache can show after a restart that the like was confirmed although its record remains.
        var isTraceable = false
    }

    /// A call of a client that has no reply yet, or whose record is being written.
    struct Call {
        let photo: PhotoID
        /// The wanted state; nil for the opposite of the present one.
        let isWanted: Bool?
        var step = Step.arrived
        /// True if the cache has the photo.
        var isCached = false
        /// True if the time limit passed while the record was being written: the reply follows when it is stored.
        var isOverdue = false

        enum Step {
            /// The records are not loaded.
            case arrived
            /// The photo is being read. `isOutdated` is true if it has to be read again after that.
            case reading(isOutdated: Bool)
            /// The photo was read. The value is nil if it is not cached and cannot be fetched now.
            case read(isLiked: Bool?)
            /// A record is being written for the call.
            case writing(PendingLike)
            /// The like is stored.
            case waiting(PendingLike)
            /// The outcome is known; the reply is about to be sent.
            case finished(PendingLike, LikeOutcome)
        }

        /// True until the wanted state is known.
        var isUndecided: Bool {
            switch step {
            case .arrived, .reading, .read: true
            case .writing, .waiting, .finished: false
            }
        }
    }

    /// The delivery in progress.
    enum Delivery {
        /// A photo that the cache does not have is being fetched.
        case fetching(PendingLike)
        /// The owner is about to send the like, or waits for the response.
        case sending(PendingLike, known: Bool?, wasUnknown: Bool)
        /// The response was 404: the photo is being fetched to determine if the photo or only the like is missing.
        case checking(PendingLike)
        /// The service refused the like; its record is being removed.
        case refusing(PendingLike, any Error)
        /// The service has no likes; the like is being stored locally.
        case storingLocally(PendingLike)
        /// The cache is being updated with a confirmed like, or with one that was stored locally.
        case updatingCache(CacheUpdate)
        /// The like is confirmed. Its record is being removed first, because otherwise the like would be sent again
        /// after a restart.
        case completing(CacheUpdate)

        var like: PendingLike {
            switch self {
            case .fetching(let like), .sending(let like, _, _), .checking(let like),
                .refusing(let like, _), .storingLocally(let like):
                like
            case .updatingCache(let update), .completing(let update): update.like
            }
        }
    }

    /// The reason why the queue accepts no more calls.
    package enum Closing: Equatable {
        /// Another session of the account takes over; the records remain.
        case replaced
        /// The records are being deleted.
        case loggingOut
        /// The records are deleted.
        case loggedOut
    }

    /// The time for which a service without likes is not checked again.
    static let unavailablePause = Duration.seconds(86_400)

    /// Returns the name of a photo's like group. The service likes the photos of a group as one.
    package let likeGroup: @Sendable (PhotoID) -> String
    /// True if the service never has likes: they are stored locally, and it is not checked for likes.
    let isLocal: Bool
    /// The pending likes, in the order of their delivery; at most one for each like group.
    var entries: [Entry] = []
    /// The likes and unlikes that are stored locally, the latest last.
    package var localLikes: [PendingLike] = []
    /// The time of the last check that found the service without likes; nil if it has likes.
    package var unavailableSince: Timestamp?
    /// The like groups for which something was sent whose outcome is unknown.
    var outcomeUnknown: Set<String> = []
    /// The confirmed states, by like group, that are not in the cache: they are being written, or cannot be.
    var cacheOverrides: [String: Bool] = [:]
    /// The number of cache updates in progress, by like group.
    var cacheUpdates: [String: Int] = [:]
    /// Confirmed likes whose records are still to be removed.
    var unremoved: [PendingLike] = []
    var loading = Loading.notStarted
    var calls: [CallID: Call] = [:]
    /// The records to be written after the one in progress.
    var writes: [Write] = []
    /// The record that is being written.
    var writing: Write?
    /// A Boolean value that indicates whether the pending likes are being delivered.
    var isDelivering = false
    var delivery: Delivery?
    /// The like groups that are deferred to a later round.
    var deferred: Set<String> = []
    var failuresInRound = 0
    var closing: Closing?
    /// The number of consecutive rounds that left something queued. Rounds that calls begin count once, retries
    /// count each.
    package var consecutiveFailures = 0
    /// The number of completed likes. Data that was read before the number changed may be outdated.
    package var revision = 0

    enum Loading { case notStarted, inProgress, done }

    package init(isLocal: Bool = false, likeGroup: @escaping @Sendable (PhotoID) -> String) {
        self.isLocal = isLocal
        self.likeGroup = likeGroup
    }

    // MARK: State

    package var isLoaded: Bool { loading == .done }

    /// The photos whose like or unlike is in progress or queued.
    package var pending: [PhotoID] { entries.map(\.like.photo) }

    package func isPending(_ photo: PhotoID) -> Bool { entry(likeGroup(photo)) != nil }

    /// Returns the liked state that is shown for a photo.
    ///
    /// - Parameters:
    ///   - group: The like group of the photo.
    ///   - cached: The state in the cache.
    /// - Returns: The state after overrides and local likes.
    func isLiked(_ group: String, cached: Bool) -> Bool {
        localLikes.last { likeGroup($0.photo) == group }?.isWanted ?? cacheOverrides[group]
            ?? cached
    }

    /// Returns a photo with its pending or local like, in the form for clients.
    package func decorate(_ photo: Photo) -> Photo {
        guard !entries.isEmpty || !localLikes.isEmpty || !cacheOverrides.isEmpty else {
            return photo
        }
        let group = likeGroup(photo.id)
        var photo = photo
        photo.isLiked = isLiked(group, cached: photo.isLiked)
        photo.isPending = entry(group).map { $0.like.isWanted != photo.isLiked } ?? false
        return photo
    }

    /// The time at which the service is checked again for likes; nil if none are stored locally.
    package var nextAvailabilityCheck: Timestamp? {
        localLikes.isEmpty || isLocal ? nil : unavailableSince.map { $0 + Self.unavailablePause }
    }

    /// Returns true if a service without likes may be checked again. A time in the future was recorded before the
    /// clock was set back.
    package func mayOfferLikesAgain(at now: Timestamp) -> Bool {
        guard !isLocal else { return false }
        return unavailableSince.map { now >= $0 + Self.unavailablePause || now < $0 } ?? false
    }

    package func entry(_ group: String) -> Entry? { index(group).map { entries[$0] } }

    func index(_ group: String) -> Int? {
        entries.firstIndex { likeGroup($0.like.photo) == group }
    }

    // MARK: Events

    /// Handles an event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - now: The current time.
    /// - Returns: The effects to perform, in this order.
    package mutating func handle(_ event: Event, at now: Timestamp) -> [Effect] {
        switch event {
        case .loadRequested: return load()
        case .recordsRead(let result): return recordsRead(result, now)
        case .called(let id, let photo, let isWanted): return called(id, photo, isWanted)
        case .photoRead(let id, let result): return photoRead(id, result, now)
        case .written(let result): return written(result, now)
        case .timedOut(let id): return timedOut(id, now)
        case .deliveryRequested: return deliver(now)
        case .photoFetched(let result): return photoFetched(result, now)
        case .sent(let result): return sent(result, now)
        case .cacheUpdated(let update, let result): return cacheUpdated(update, result, now)
        case .observed(let photo, let isLiked): return observed(photo, isLiked, now)
        case .availabilityCheckDue:
            guard mayOfferLikesAgain(at: now), !localLikes.isEmpty else { return [] }
            return resume(now)
        case .availabilityUnknown: return resume(now)
        case .retryBegan:
            if consecutiveFailures > 0 { consecutiveFailures += 1 }
            return []
        case .closed(let closing): return closed(closing)
        }
    }

    // MARK: Records

    /// Starts to read the records, unless they are read or being read.
    mutating func load() -> [Effect] {
        guard loading == .notStarted, closing == nil else { return [] }
        loading = .inProgress
        return [.readRecords]
    }

    private mutating func recordsRead(
        _ result: Result<LikeRecords, any Error>, _ now: Timestamp
    ) -> [Effect] {
        guard closing == nil, loading == .inProgress else { return [] }
        switch result {
        case .failure(let error):
            loading = .notStarted
            return calls.keys.sorted().flatMap { fail($0, error) }
        case .success(let records):
            loading = .done
            localLikes = records.local
            unavailableSince = records.unavailableSince ?? (isLocal ? now : nil)
            for record in records.pending {
                // The daemon ended between the confirmation and the removal of the record.
                if record.isConfirmed {
                    unremoved.append(record.like)
                    continue
                }
                let group = likeGroup(record.like.photo)
                if let index = index(group) { unremoved.append(entries.remove(at: index).like) }
                // The daemon may have ended while the like was being sent.
                outcomeUnknown.insert(group)
                entries.append(
                    Entry(
                        like: record.like, known: record.cached?.isLiked,
                        isTraceable: record.stored != nil))
            }
            let reads = calls.keys.sorted().map { id in
                calls[id]?.step = .reading(isOutdated: false)
                return Effect.readPhoto(id, calls[id]?.photo ?? PhotoID(""))
            }
            return [.pendingChanged] + reads
        }
    }

    /// Starts the next write, or decides the next call, unless a record is being written.
    mutating func advance(_ now: Timestamp) -> [Effect] {
        var effects: [Effect] = []
        while writing == nil, closing == nil {
            if !writes.isEmpty {
                let write = writes.removeFirst()
                if isOutdated(write) {
                    effects += skipLocalStorage(now)
                    continue
                }
                writing = write
                effects.append(.write(write))
            } else if let id = nextDecision {
                effects += decide(id, now)
            } else {
                break
            }
        }
        return effects
    }

    private mutating func written(_ result: Result<Void, any Error>, _ now: Timestamp) -> [Effect] {
        guard let write = writing else { return [] }
        writing = nil
        guard closing == nil else { return writtenAfterClosing(write, result) }
        var effects: [Effect] = []
        switch (write, result) {
        case (.store(let like, let stored), let result):
            effects = recorded(like, isKnown: stored != nil, result, now)
        case (.withdraw(let like), let result): effects = withdrawn(like, result, now)
        case (.remove(let like), let result):
            if case .success = result { unremoved.removeAll { $0 == like } }
            switch delivery {
            case .refusing(like, let error): effects = refused(like, error, now)
            case .completing(let update) where update.like == like:
                effects = completed(update, now)
            default: break
            }
        case (.storeLocally(let like, let checked), .success):
            effects = storedLocally(like, checked: checked, now)
        case (.storeLocally(let like, _), .failure(let error)):
            effects = localStorageFailed(like, error, now)
        case (.resume, .success): effects = resumed(now)
        case (.resume, .failure(let error)):
            // Calls that depend on the conversion fail; the others are not affected.
            effects = calls.filter(\.value.isUndecided).keys.sorted().flatMap { fail($0, error) }
        }
        return effects + advance(now)
    }

    /// Starts to turn the local likes into pending likes.
    private mutating func resume(_ now: Timestamp) -> [Effect] {
        guard !isLocal, closing == nil, unavailableSince != nil, !writes.contains(.resume),
            writing != .resume
        else { return [] }
        writes.append(.resume)
        return advance(now)
    }

    /// Turns local likes into pending likes, because the service may have likes again.
    private mutating func resumed(_ now: Timestamp) -> [Effect] {
        for like in localLikes {
            let group = likeGroup(like.photo)
            guard entry(group) == nil else { continue }
            outcomeUnknown.insert(group)
            entries.append(Entry(like: like))
        }
        localLikes = []
        unavailableSince = nil
        return [.pendingChanged] + deliver(now)
    }

    // MARK: Other clients

    /// Handles a report of the service of another state than before.
    private mutating func observed(
        _ photo: PhotoID, _ isLiked: Bool, _ now: Timestamp
    ) -> [Effect] {
        let group = likeGroup(photo)
        cacheOverrides[group] = nil
        let effects = outdateReads(group)
        guard closing == nil, let index = index(group) else { return effects }
        entries[index].known = isLiked
        // If nothing is left to be sent, the like is complete.
        return effects + (needsSending(entries[index]) ? [] : deliver(now))
    }

    /// Makes the calls that have read a photo of a like group read it again before they are decided.
    mutating func outdateReads(_ group: String) -> [Effect] {
        revision += 1
        guard closing == nil else { return [] }
        var effects: [Effect] = []
        for id in calls.keys.sorted() {
            guard let call = calls[id], likeGroup(call.photo) == group else { continue }
            switch call.step {
            case .reading: calls[id]?.step = .reading(isOutdated: true)
            case .read:
                calls[id]?.step = .reading(isOutdated: false)
                effects.append(.readPhoto(id, call.photo))
            default: break
            }
        }
        return effects
    }
}
