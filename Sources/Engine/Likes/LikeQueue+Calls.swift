internal import ProviderKit

// Calls: from their arrival to the record.
nonisolated extension LikeQueue {
    mutating func called(_ id: CallID, _ photo: PhotoID, _ change: Change) -> [Effect] {
        var call = Call(photo: photo, change: change)
        guard closing == nil else {
            calls[id] = call
            return fail(id, EngineError.cancelled("The account was closed meanwhile; try again."))
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
            // The wanted state is known, so the present one does not matter.
            calls[id]?.step = .read(isLiked: nil)
        case (.failure(let error), _): return fail(id, error) + advance(now)
        }
        return advance(now)
    }

    /// Returns true if an error says nothing about the photo, and may be over later.
    private static func isTemporary(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.failed, ProviderError.rateLimited, ProviderError.unauthorized: true
        default: error is HTTPError || error is SecretStoreError
        }
    }

    /// The call to decide next: the first one that has read its photo, and is the first of its like group.
    var nextDecision: CallID? {
        var groups: Set<String> = []
        for id in calls.keys.sorted() {
            guard let call = calls[id], call.isUndecided else { continue }
            guard groups.insert(likeGroup(call.photo)).inserted else { continue }
            if case .read = call.step { return id }
        }
        return nil
    }

    /// Decides a call: answers it, lets it wait for a pending like, or begins to write its record.
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
            // Nothing was sent yet; from now on, nothing is.
            calls[id]?.step = .writing(like)
            entries.removeAll { $0.like == entry.like }
            writes.append(.withdraw(entry.like))
            return []
        }
        calls[id]?.step = .writing(like)
        if let unavailableSince {
            writes.append(.storeLocally(like, asked: unavailableSince))
        } else {
            writes.append(.store(like, since: isKnown ? now : nil))
        }
        return []
    }

    /// Returns the photo that stands for the like group of a photo in the records.
    private func representative(_ photo: PhotoID) -> PhotoID {
        let group = likeGroup(photo)
        return entry(group)?.like.photo
            ?? (unremoved + localLikes).first { likeGroup($0.photo) == group }?.photo ?? photo
    }

    /// The call for which a record was being written.
    private func writingCall() -> (id: CallID, like: PendingLike)? {
        for (id, call) in calls { if case .writing(let like) = call.step { return (id, like) } }
        return nil
    }

    /// A pending like was stored, or could not be stored.
    mutating func recorded(
        _ like: PendingLike, isKnown: Bool, _ result: Result<Void, any Error>, _ now: Timestamp
    ) -> [Effect] {
        guard let (id, _) = writingCall() else { return [] }
        if case .failure(let error) = result { return fail(id, error) }
        let group = likeGroup(like.photo)
        // Their records have been replaced.
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
            // The earlier like is not sent any more. If it is being sent, its callers learn the outcome.
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
        // It may succeed though others of the round did not.
        return effects + deliver(now)
    }

    /// A pending like that was not sent was removed, or could not be removed.
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
                "The service takes too long to answer; try again later.")
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

    // MARK: Answers

    mutating func reply(_ id: CallID, _ answer: Answer) -> [Effect] {
        guard calls.removeValue(forKey: id) != nil else { return [] }
        return [.reply(id, .success(answer))]
    }

    mutating func fail(_ id: CallID, _ error: any Error) -> [Effect] {
        guard calls.removeValue(forKey: id) != nil else { return [] }
        return [.reply(id, .failure(error))]
    }

    /// Answers all calls that wait for a like.
    mutating func replyToAll(_ like: PendingLike, _ outcome: LikeOutcome) -> [Effect] {
        waiting(for: like).flatMap { reply($0, (like.isWanted, outcome)) }
    }

    /// The calls that wait for a like, in their order.
    func waiting(for like: PendingLike) -> [CallID] {
        calls.keys.sorted().filter { id in
            if case .waiting(like) = calls[id]?.step { true } else { false }
        }
    }
}
