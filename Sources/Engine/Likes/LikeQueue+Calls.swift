internal import ProviderKit
internal import Translation

// Calls: from their arrival to the record.
nonisolated extension LikeQueue {
    mutating func called(_ id: CallID, _ photo: PhotoID, _ change: Change) -> [Effect] {
        var call = Call(photo: photo, change: change)
        guard closing == nil else {
            calls[id] = call
            return fail(
                id, EngineError.cancelled(Message("The session of the account ended; try again.")))
        }
        guard isLoaded else {
            calls[id] = call
            guard loading == .notStarted else { return [] }
            loading = .inProgress
            return [.readRecords]
        }
        call.step = .reading(isOutdated: false)
        calls[id] = call
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
        switch (result, call.change) {
        case (.success(let isLiked), _):
            calls[id]?.step = .read(isLiked: isLiked)
            calls[id]?.isCached = true
        case (.failure(let error), .set) where Self.isTemporary(error):
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
        let isWanted: Bool
        switch call.change {
        case .set(let value): isWanted = value
        case .toggle: isWanted = !(entry?.like.isWanted ?? shown ?? false)
        }
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
    private func writingCall() -> (id: CallID, like: PendingLike)? {
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

    mutating func reply(_ id: CallID, _ value: Reply) -> [Effect] {
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
