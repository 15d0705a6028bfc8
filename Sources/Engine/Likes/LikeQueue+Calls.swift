internal import Accounts
package import ProviderKit
internal import Translation

// The events and effects.
nonisolated extension LikeQueue {
    /// An event that the owner reports.
    package enum Event {
        /// The records are needed.
        case loadRequested
        case recordsRead(Result<LikeRecords, any Error>)
        /// A client called. The wanted state is nil for the opposite of the present one.
        case called(CallID, PhotoID, Bool?)
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
    package enum Effect {
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
        case reply(CallID, Result<LikeReply, any Error>)
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
    package enum Write: Hashable, Sendable {
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
    package struct CacheUpdate: Hashable, Sendable {
        package let like: PendingLike
        /// The number of likes of the photo, if the service reported it.
        package var likes: Int?
        package var outcome = LikeOutcome.done
        /// True if the number of the user's likes changes as well; false if the service may have counted the like
        /// before.
        package var isCounted: Bool
    }

    /// The result of a change of the cache.
    package enum CacheUpdateResult {
        /// The cache shows the new state.
        case written
        /// The cache does not have the photo.
        case notCached
        case failed
    }

    /// The liked state of a photo in the cache.
    package struct CachedLike: Hashable, Sendable {
        var isLiked: Bool
        /// The time of the last confirmation.
        var confirmed: Timestamp

        package init(isLiked: Bool, confirmed: Timestamp) {
            self.isLiked = isLiked
            self.confirmed = confirmed
        }
    }
}

// Calls: from their arrival to the record.
nonisolated extension LikeQueue {
    mutating func called(_ id: CallID, _ photo: PhotoID, _ isWanted: Bool?) -> [Effect] {
        calls[id] = Call(photo: photo, isWanted: isWanted)
        guard closing == nil else { return fail(id, Self.closedError(.replaced)) }
        guard isLoaded else { return load() }
        calls[id]?.step = .reading(isOutdated: false)
        return [.readPhoto(id, photo)]
    }

    mutating func photoRead(
        _ id: CallID, _ result: Result<Bool, any Error>, _ now: Timestamp
    ) -> [Effect] {
        guard closing == nil, let call = calls[id], case .reading(let isOutdated) = call.step
        else { return [] }
        if isOutdated {
            calls[id]?.step = .reading(isOutdated: false)
            return [.readPhoto(id, call.photo)]
        }
        switch (result, call.isWanted) {
        case (.success(let isLiked), _):
            calls[id]?.step = .read(isLiked: isLiked)
            calls[id]?.isCached = true
        case (.failure(let error), .some) where Self.isTemporary(error):
            // The wanted state is known, so the present state is not needed.
            calls[id]?.step = .read(isLiked: nil)
        case (.failure(let error), _): return fail(id, error) + advance(now)
        }
        return advance(now)
    }

    /// Returns true if an error does not concern the photo and may be temporary.
    private static func isTemporary(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.failed, ProviderError.rateLimited, ProviderError.unauthorized: true
        default: error is HTTPError || error is SecretStoreError
        }
    }

    /// The call to decide next: the first call whose photo was read, and which is the first of its like group.
    var nextDecision: CallID? {
        var groups: Set<String> = []
        for id in calls.keys.sorted() {
            guard let call = calls[id], call.isUndecided else { continue }
            guard groups.insert(likeGroup(call.photo)).inserted else { continue }
            if case .read = call.step { return id }
        }
        return nil
    }

    /// Decides a call: returns its reply, assigns it to a pending like, or starts to write its record.
    mutating func decide(_ id: CallID, _ now: Timestamp) -> [Effect] {
        guard let call = calls[id], case .read(let cached) = call.step else { return [] }
        if mayOfferLikesAgain(at: now) {
            writes.append(.resume)
            return []
        }
        let group = likeGroup(call.photo)
        let entry = entry(group)
        let shown = cached.map { isLiked(group, cached: $0) }
        let isWanted = call.isWanted ?? !(entry?.like.isWanted ?? shown ?? false)
        let like = PendingLike(photo: representative(call.photo), isWanted: isWanted)
        if entry?.like == like {
            calls[id]?.step = .waiting(like)
            return deliver(now)
        }
        let isKnown = shown != nil && !outcomeUnknown.contains(group)
        guard shown != isWanted || !isKnown else {
            guard let entry else { return reply(id, (isWanted, unchanged)) }
            // The pending like was not sent and is withdrawn.
            calls[id]?.step = .writing(like)
            entries.removeAll { $0.like == entry.like }
            writes.append(.withdraw(entry.like))
            return []
        }
        calls[id]?.step = .writing(like)
        if let unavailableSince {
            writes.append(.storeLocally(like, checked: unavailableSince))
        } else {
            writes.append(.store(like, since: isKnown ? now : nil))
        }
        return []
    }

    /// Returns the photo that represents the like group of a photo in the records.
    private func representative(_ photo: PhotoID) -> PhotoID {
        let group = likeGroup(photo)
        return entry(group)?.like.photo
            ?? (unremoved + localLikes).first { likeGroup($0.photo) == group }?.photo ?? photo
    }

    /// Returns the call whose record was being written.
    func writingCall() -> (id: CallID, like: PendingLike)? {
        for (id, call) in calls { if case .writing(let like) = call.step { return (id, like) } }
        return nil
    }

    /// Handles the end of a write that stores a pending like.
    mutating func recorded(
        _ like: PendingLike, isKnown: Bool, _ result: Result<Void, any Error>, _ now: Timestamp
    ) -> [Effect] {
        guard let (id, _) = writingCall() else { return [] }
        if case .failure(let error) = result { return fail(id, error) }
        let group = likeGroup(like.photo)
        // The new record replaced the records of these likes.
        unremoved.removeAll { likeGroup($0.photo) == group }
        writes.removeAll { $0 == .remove(like) }
        var effects: [Effect] = []
        let isCached = calls[id]?.isCached ?? false
        let isOverdue = calls[id]?.isOverdue ?? false
        calls[id]?.step = .waiting(like)
        if let index = index(group) {
            let earlier = entries[index].like
            entries[index].like = like
            entries[index].isTraceable = isKnown
            if isCached { entries[index].isCached = true }
            if isKnown { entries[index].known = !like.isWanted }
            // The earlier like is no longer sent. If it is being sent, its callers get its outcome.
            if delivery?.like != earlier { effects += replyToAll(earlier, .queued) }
        } else {
            if !isKnown { outcomeUnknown.insert(group) }
            entries.append(
                Entry(
                    like: like, known: isKnown ? !like.isWanted : nil, isCached: isCached,
                    isTraceable: isKnown))
        }
        effects += [.pendingChanged, .photosChanged(like.photo, id)]
        if isOverdue { effects += reply(id, (like.isWanted, .queued)) }
        // This like may succeed even if other likes of the round failed.
        return effects + deliver(now)
    }

    /// Handles the end of a write that removes a pending like that was not sent.
    mutating func withdrawn(
        _ like: PendingLike, _ result: Result<Void, any Error>, _ now: Timestamp
    ) -> [Effect] {
        guard let (id, wanted) = writingCall() else { return [] }
        if case .failure(let error) = result {
            entries.append(Entry(like: like, known: !like.isWanted))
            return fail(id, error) + deliver(now)
        }
        let effects =
            replyToAll(like, .queued)
            + [.pendingChanged, .photosChanged(like.photo, id)]
            + outdateReads(likeGroup(like.photo))
        return effects + reply(id, (wanted.isWanted, unchanged))
    }

    /// The outcome of a call that changes nothing.
    private var unchanged: LikeOutcome { unavailableSince == nil ? .done : .local }

    mutating func timedOut(_ id: CallID, _ now: Timestamp) -> [Effect] {
        guard let call = calls[id] else { return [] }
        switch call.step {
        case .arrived, .reading, .read:
            let error = ProviderError.failed(
                Message("The service did not respond in time; try again later."))
            return fail(id, error) + advance(now)
        case .writing:
            calls[id]?.isOverdue = true
            return []
        case .waiting(let like):
            switch delivery {
            case .refusing(like, let error): return fail(id, error)
            case .completing(let update) where update.like == like:
                return reply(id, (like.isWanted, .done))
            default: return reply(id, (like.isWanted, .queued))
            }
        case .finished(let like, let outcome): return reply(id, (like.isWanted, outcome))
        }
    }

    // MARK: Replies

    mutating func reply(_ id: CallID, _ value: LikeReply) -> [Effect] {
        guard calls.removeValue(forKey: id) != nil else { return [] }
        return [.reply(id, .success(value))]
    }

    mutating func fail(_ id: CallID, _ error: any Error) -> [Effect] {
        guard calls.removeValue(forKey: id) != nil else { return [] }
        return [.reply(id, .failure(error))]
    }

    /// Replies to all calls that wait for a like.
    mutating func replyToAll(_ like: PendingLike, _ outcome: LikeOutcome) -> [Effect] {
        waiting(for: like).flatMap { reply($0, (like.isWanted, outcome)) }
    }

    /// Returns the calls that wait for a like, in their order.
    func waiting(for like: PendingLike) -> [CallID] {
        calls.keys.sorted().filter { id in
            if case .waiting(like) = calls[id]?.step { true } else { false }
        }
    }
}
