internal import Accounts
internal import ProviderKit
internal import Translation

// Delivery: the pending likes are sent in rounds, one like after the other.
nonisolated extension LikeQueue {
    /// The number of consecutive failures that end a round.
    private static let failureLimit = 2

    /// Returns true if the like has to be sent because the service is not known to have the wanted state.
    func needsSending(_ entry: Entry) -> Bool {
        entry.known != entry.like.isWanted
            || outcomeUnknown.contains(likeGroup(entry.like.photo))
    }

    /// Starts a round, unless one is in progress.
    mutating func deliver(_ now: Timestamp) -> [Effect] {
        guard closing == nil, isLoaded, !isDelivering else { return [] }
        isDelivering = true
        deferred = []
        failuresInRound = 0
        for like in unremoved where !writes.contains(.remove(like)) && writing != .remove(like) {
            writes.append(.remove(like))
        }
        return advance(now) + nextDelivery(now)
    }

    /// Starts the next delivery of the round, or ends the round.
    private mutating func nextDelivery(_ now: Timestamp) -> [Effect] {
        delivery = nil
        guard closing == nil else { return [] }
        guard let entry = entries.first(where: { !deferred.contains(likeGroup($0.like.photo)) })
        else { return endRound() }
        let like = entry.like
        if !needsSending(entry) {
            return updateCache(CacheUpdate(like: like, isCounted: false))
        }
        if unavailableSince != nil, !mayOfferLikesAgain(at: now) {
            return storeLocally(like, checked: unavailableSince ?? now, now)
        }
        guard entry.isCached else {
            delivery = .fetching(like)
            return [.fetchPhoto(like.photo, isCachedEnough: true)]
        }
        delivery = .sending(like, known: entry.known, wasUnknown: true)
        return [.send(like)]
    }

    private mutating func endRound() -> [Effect] {
        isDelivering = false
        delivery = nil
        let before = consecutiveFailures
        consecutiveFailures = entries.isEmpty || deferred.isEmpty ? 0 : max(before, 1)
        // The outcome for the callers of undelivered likes is `queued`.
        let waiting = calls.keys.sorted().flatMap { id -> [Effect] in
            guard case .waiting(let like) = calls[id]?.step else { return [] }
            return reply(id, (like.isWanted, .queued))
        }
        let hasChanged = consecutiveFailures > 0 || before > 0
        return waiting + (hasChanged ? [.failuresChanged] : [])
    }

    // MARK: Sending

    /// Records that a like is about to be sent: from now on its outcome is unknown.
    ///
    /// - Parameter like: The like of ``Effect/send(_:)``.
    /// - Returns: False if it must not be sent, because the wanted state changed or the queue is closed.
    package mutating func willSend(_ like: PendingLike) -> Bool {
        let group = likeGroup(like.photo)
        guard closing == nil, delivery?.like == like, let entry = entry(group), entry.like == like
        else { return false }
        let wasUnknown = !outcomeUnknown.insert(group).inserted
        delivery = .sending(like, known: entry.known, wasUnknown: wasUnknown)
        return true
    }

    /// Handles the fetch of a photo that was not cached, or that may have been deleted.
    mutating func photoFetched(
        _ result: Result<Bool, any Error>, _ now: Timestamp
    ) -> [Effect] {
        guard closing == nil else { return [] }
        switch (delivery, result) {
        case (.fetching(let like), .success):
            guard let index = index(likeGroup(like.photo)) else { return nextDelivery(now) }
            entries[index].isCached = true
            let isReplaced = entries[index].like != like
            return (isReplaced ? replyToAll(like, .queued) : []) + nextDelivery(now)
        case (.checking(let like), .success): return likesUnavailable(like, now)
        case (.fetching(let like), .failure(let error)), (.checking(let like), .failure(let error)):
            if case ProviderError.notFound = error { return refuse(like, error, now) }
            return deferDelivery(of: like, error, now)
        default: return []
        }
    }

    mutating func sent(_ result: Result<Int?, any Error>, _ now: Timestamp) -> [Effect] {
        guard closing == nil, case .sending(let like, let known, let wasUnknown) = delivery
        else { return [] }
        let group = likeGroup(like.photo)
        switch result {
        case .success(let likes):
            let isCounted = !wasUnknown && known != nil && known != like.isWanted
            return updateCache(CacheUpdate(like: like, likes: likes, isCounted: isCounted))
        case .failure(let error):
            if !wasUnknown, !Self.mayHaveSucceeded(error) { outcomeUnknown.remove(group) }
            switch error {
            case ProviderError.notFound:
                // The service has no such photo, or no likes.
                delivery = .checking(like)
                return [.fetchPhoto(like.photo, isCachedEnough: false)]
            // The service does not offer likes, or does not permit them to this application.
            case ProviderError.denied: return likesUnavailable(like, now)
            // The service would refuse this like again.
            case ProviderError.refused, ProviderError.invalidArgument, ProviderError.notSupported,
                // Errors that are not expected in reply to a like.
                ProviderError.staleCursor, ProviderError.noSuchUser, ProviderError.userExists,
                ProviderError.wrongPassword:
                return refuse(like, error, now)
            default: return deferDelivery(of: like, error, now)
            }
        }
    }

    /// Returns false if an error proves that the service did not change the liked state.
    private static func mayHaveSucceeded(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.failed, ProviderError.storageFull: true
        default: !(error is ProviderError || error is EngineError || error is SecretStoreError)
        }
    }

    /// Returns true if the same request may succeed for another photo.
    private static func concernsOnePhoto(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.failed, HTTPError.failed, HTTPError.tooLarge: true
        default: false
        }
    }

    /// Defers a like to a later round.
    private mutating func deferDelivery(
        of like: PendingLike, _ error: any Error, _ now: Timestamp
    ) -> [Effect] {
        // The wanted state changed before or while the like was sent.
        guard entry(likeGroup(like.photo))?.like == like else {
            return replyToAll(like, .queued) + nextDelivery(now)
        }
        deferred.insert(likeGroup(like.photo))
        failuresInRound += 1
        guard Self.concernsOnePhoto(error), failuresInRound < Self.failureLimit else {
            return endRound()
        }
        return nextDelivery(now)
    }

    // MARK: Confirmation

    private mutating func updateCache(_ update: CacheUpdate) -> [Effect] {
        delivery = .updatingCache(update)
        return [beginCacheUpdate(update)]
    }

    mutating func beginCacheUpdate(_ update: CacheUpdate) -> Effect {
        cacheUpdates[likeGroup(update.like.photo), default: 0] += 1
        return .updateCache(update)
    }

    /// Handles the end of a cache update.
    mutating func cacheUpdated(
        _ update: CacheUpdate, _ result: CacheUpdateResult, _ now: Timestamp
    ) -> [Effect] {
        guard closing != .loggingOut, closing != .loggedOut else { return [] }
        let like = update.like
        let group = likeGroup(like.photo)
        cacheUpdates[group, default: 1] -= 1
        if cacheUpdates[group] == 0 {
            cacheUpdates[group] = nil
            cacheOverrides[group] = result == .failed ? like.isWanted : nil
        }
        var effects = outdateReads(group)
        let entry = entry(group)
        let isTraceable =
            entry?.like != like || entry?.isTraceable == true && result == .written
        // In the next session, the cache shows that the like is confirmed, or the like is sent again.
        guard closing == nil else { return isTraceable ? [.confirmed(update)] : [] }
        guard update.outcome == .done else {
            effects.append(.confirmed(update))
            for id in calls.keys.sorted() {
                guard case .finished(like, .local) = calls[id]?.step else { continue }
                effects += reply(id, (like.isWanted, .local))
            }
            if case .updatingCache(update) = delivery { effects += nextDelivery(now) }
            return effects + advance(now)
        }
        if entry?.like == like {
            unremoved.append(like)
            writes.append(.remove(like))
        }
        guard isTraceable else {
            delivery = .completing(update)
            return effects + advance(now)
        }
        return effects + completed(update, now) + advance(now)
    }

    /// Ends the delivery of a confirmed like.
    mutating func completed(_ update: CacheUpdate, _ now: Timestamp) -> [Effect] {
        let like = update.like
        let group = likeGroup(like.photo)
        failuresInRound = 0
        outcomeUnknown.remove(group)
        var effects: [Effect] = []
        if let index = index(group) {
            if entries[index].like == like {
                entries.remove(at: index)
                effects.append(.pendingChanged)
            } else {
                entries[index].known = like.isWanted
            }
        }
        effects += [.confirmed(update)] + replyToAll(like, .done)
        return effects + (delivery?.like == like ? nextDelivery(now) : [])
    }

    // MARK: Refusal

    /// Ends a like that the service refused: its record is removed before the refusal is announced.
    private mutating func refuse(
        _ like: PendingLike, _ error: any Error, _ now: Timestamp
    ) -> [Effect] {
        guard entry(likeGroup(like.photo))?.like == like else {
            // Another state is wanted now, and is still to be sent.
            return waiting(for: like).flatMap { fail($0, error) } + nextDelivery(now)
        }
        delivery = .refusing(like, error)
        unremoved.append(like)
        writes.append(.remove(like))
        return advance(now)
    }

    /// Handles the removal of the record of a refused like. If that failed, it is repeated later.
    mutating func refused(
        _ like: PendingLike, _ error: any Error, _ now: Timestamp
    ) -> [Effect] {
        failuresInRound = 0
        var effects: [Effect] = []
        // Otherwise another state is wanted now, and is still to be sent.
        if let index = entries.firstIndex(where: { $0.like == like }) {
            entries.remove(at: index)
            effects = [.pendingChanged, .photosChanged(like.photo, nil), .failed(like, error)]
        }
        return effects + waiting(for: like).flatMap { fail($0, error) } + nextDelivery(now)
    }

    // MARK: Services without likes

    private mutating func likesUnavailable(
        _ like: PendingLike, _ now: Timestamp
    ) -> [Effect] {
        unavailableSince = now
        guard let entry = entry(likeGroup(like.photo)), entry.like == like else {
            // Another state is wanted now; it is stored locally next.
            return replyToAll(like, .queued) + nextDelivery(now)
        }
        return storeLocally(like, checked: now, now)
    }

    private mutating func storeLocally(
        _ like: PendingLike, checked: Timestamp, _ now: Timestamp
    ) -> [Effect] {
        delivery = .storingLocally(like)
        writes.append(.storeLocally(like, checked: checked))
        return advance(now)
    }

    /// Handles the local storage of a like, for a call or for a delivery.
    mutating func storedLocally(
        _ like: PendingLike, checked: Timestamp, _ now: Timestamp
    ) -> [Effect] {
        let group = likeGroup(like.photo)
        unavailableSince = checked
        outcomeUnknown.remove(group)
        // This applies until the cache is updated.
        cacheOverrides[group] = like.isWanted
        unremoved.removeAll { likeGroup($0.photo) == group }
        localLikes.removeAll { $0.photo == like.photo }
        localLikes.append(like)
        let update = CacheUpdate(like: like, outcome: .local, isCounted: true)
        let superseded = entry(group).map { $0.like == like ? [] : replyToAll($0.like, .queued) }
        entries.removeAll { likeGroup($0.like.photo) == group }
        for (id, call) in calls {
            switch call.step {
            case .writing(like), .waiting(like): calls[id]?.step = .finished(like, .local)
            default: break
            }
        }
        if case .storingLocally(like) = delivery { delivery = .updatingCache(update) }
        return [beginCacheUpdate(update)] + (superseded ?? []) + [.pendingChanged]
    }

    /// Returns true if a delivered like is about to be stored locally, but another state is wanted now.
    func isOutdated(_ write: Write) -> Bool {
        guard case .storeLocally(let like, _) = write, case .storingLocally(like) = delivery
        else { return false }
        return entry(likeGroup(like.photo))?.like != like
    }

    /// Continues with the state that is wanted now, in place of the like that was to be stored locally.
    mutating func skipLocalStorage(_ now: Timestamp) -> [Effect] {
        guard let like = delivery?.like else { return [] }
        return replyToAll(like, .queued) + nextDelivery(now)
    }

    mutating func localStorageFailed(
        _ like: PendingLike, _ error: any Error, _ now: Timestamp
    ) -> [Effect] {
        if case .storingLocally(like) = delivery { return deferDelivery(of: like, error, now) }
        guard let (id, _) = writingCall() else { return [] }
        return fail(id, error)
    }
}

// The end of a session: a logout, or a replacement by another session.
nonisolated extension LikeQueue {
    mutating func closed(_ reason: Closing) -> [Effect] {
        // A logout is final.
        guard closing != .loggedOut else { return [] }
        closing = reason
        guard reason != .loggingOut else { return [] }
        var effects: [Effect] = []
        for id in calls.keys.sorted() {
            guard let call = calls[id] else { continue }
            switch call.step {
            // These calls get their replies when the records are written.
            case .waiting(let like) where reason == .replaced && writing == .remove(like): break
            case .waiting(let like) where reason == .replaced:
                effects += reply(id, (like.isWanted, .queued))
            // A logout does not delete likes that are only local.
            case .finished(let like, let outcome)
            where reason == .replaced || isLocal && outcome == .local:
                effects += reply(id, (like.isWanted, outcome))
            case .writing where reason == .replaced: break
            default: effects += fail(id, Self.closedError(reason))
            }
        }
        return effects
    }

    static func closedError(_ reason: Closing) -> EngineError {
        reason == .replaced
            ? .cancelled(Message("The session of the account ended; try again."))
            : .cancelled(
                Message("The like was dropped because the account was logged out; log in first."))
    }

    /// Replies to the call whose record was being written when the queue closed. During a logout the reply depends on
    /// the success of the logout.
    mutating func writtenAfterClosing(
        _ write: Write, _ result: Result<Void, any Error>
    ) -> [Effect] {
        guard closing != .loggedOut else { return [] }
        if case .remove(let like) = write { return removedAfterClosing(like, result) }
        var effects: [Effect] = []
        if case (.storeLocally(let like, _), .success) = (write, result), closing == .replaced {
            effects = [
                beginCacheUpdate(CacheUpdate(like: like, outcome: .local, isCounted: true))
            ]
        }
        guard let (id, like) = writingCall() else { return effects }
        let outcome: LikeOutcome
        switch (write, result) {
        case (_, .failure(let error)): return fail(id, error)
        case (.store, _): outcome = .queued
        case (.storeLocally, _): outcome = .local
        default: outcome = .done
        }
        guard closing == .replaced else {
            calls[id]?.step = .finished(like, outcome)
            return []
        }
        return effects + reply(id, (like.isWanted, outcome))
    }

    /// Handles the removal of a record after the queue closed. If the like was refused, it failed.
    private mutating func removedAfterClosing(
        _ like: PendingLike, _ result: Result<Void, any Error>
    ) -> [Effect] {
        if case .success = result, case .refusing(like, let error) = delivery {
            delivery = nil
            // Another state may be wanted in the meantime.
            let failed = entry(likeGroup(like.photo))?.like == like
            return (failed ? [.failed(like, error)] : [])
                + waiting(for: like).flatMap { fail($0, error) }
        }
        if case .success = result, case .completing(let update) = delivery, update.like == like {
            delivery = nil
            return [.confirmed(update)] + (closing == .replaced ? replyToAll(like, .done) : [])
        }
        return closing == .replaced ? replyToAll(like, .queued) : []
    }
}
