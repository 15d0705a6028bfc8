internal import ProviderKit
internal import Translation

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

    private static func closedError(_ reason: Closing) -> EngineError {
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
        guard let id = calls.keys.first(where: isWriting),
            case .writing(let like) = calls[id]?.step
        else { return effects }
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

    func isWriting(_ id: CallID) -> Bool {
        if case .writing = calls[id]?.step { true } else { false }
    }
}
