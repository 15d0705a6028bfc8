import ProviderKit
import Storage
import TestSupport

@testable import Likes

// The daemon around the queue: its databases, its requests, its sessions.
extension LikeSimulation {
    // MARK: Effects

    func handle(_ event: LikeQueue.Event) {
        for effect in queue.handle(event, at: now) { perform(effect) }
    }

    func perform(_ effect: LikeQueue.Effect) {
        trace("  \(effect)")
        switch effect {
        case .readRecords: databaseOperations.append(.readRecords)
        case .write(let write): databaseOperations.append(.write(write))
        case .readPhoto(let call, let photo): cacheOperations.append(.readPhoto(call, photo))
        case .updateCache(let update): cacheOperations.append(.updateCache(update))
        case .fetchPhoto(let photo, let isCachedEnough):
            request = .fetchPhoto(photo)
            if isCachedEnough, let known = cache[photo] {
                request = nil
                results.append(.photoFetched(.success(known.isLiked)))
            }
        case .send(let like):
            check(request == nil, "two requests at a time")
            request = .send(like)
        case .reply(let call, let result): recordReply(call, result)
        case .pendingChanged, .photosChanged, .failuresChanged: break
        case .confirmed(let update):
            let group = Self.group(of: update.like.photo)
            if update.outcome == .done {
                // A later call of the group is sent, and so is a record after a change by another client.
                let isKept =
                    histories[group]?.isTouched == false
                    && !calls.values.contains { $0.group == group }
                    && !hasUntraceableRecord(of: group)
                histories[group]?.confirmed = isKept ? update.like.isWanted : nil
                if !update.isCounted { isCountKnown = false }
            }
        case .failed(let like, _):
            statistics.refusals += 1
            let group = Self.group(of: like.photo)
            check(histories[group]?.mayFail == true, "\(group) failed twice")
            histories[group]?.mayFail = calls.values.contains { $0.group == group }
            histories[group]?.promised = nil
            histories[group]?.wanted = nil
        }
    }

    /// Returns true if a record remains, or is being written, that looks unconfirmed after a restart.
    ///
    /// - Parameters:
    ///   - group: The like group.
    ///   - isWanted: The state of the record; nil for either.
    /// - Returns: True if there is such a record.
    func hasUntraceableRecord(of group: String, _ isWanted: Bool? = nil) -> Bool {
        func matches(_ like: PendingLike) -> Bool {
            Self.group(of: like.photo) == group && (isWanted ?? like.isWanted) == like.isWanted
        }
        if case .store(let like, nil) = queue.writing, matches(like) { return true }
        return ((try? tables.read())?.pending ?? []).contains {
            $0.stored == nil && matches($0.like)
        }
    }

    /// Completes one random operation.
    func progress() throws {
        switch Int.random(in: 0..<4, using: &random) {
        case 0 where !databaseOperations.isEmpty: try runDatabase(databaseOperations.removeFirst())
        case 1 where !cacheOperations.isEmpty: runCache(cacheOperations.removeFirst())
        case 2 where request != nil: runRequest()
        default:
            guard !results.isEmpty else { return }
            handle(results.remove(at: Int.random(in: 0..<results.count, using: &random)))
        }
    }

    func runDatabase(_ operation: Operation) throws {
        switch operation {
        case .readRecords:
            var records = try tables.read()
            for (index, record) in records.pending.enumerated() {
                records.pending[index].cached = cache[record.like.photo].map {
                    LikeQueue.CachedLike(isLiked: $0.isLiked, confirmed: $0.confirmed)
                }
            }
            let fails = chance(20)
            results.append(
                .recordsRead(fails ? .failure(StorageError.full) : .success(records)))
        case .write(let write):
            guard !diskIsFull else {
                hasWriteFailed = true
                return results.append(.written(.failure(StorageError.full)))
            }
            try tables.perform(write)
            results.append(.written(.success(())))
        default: break
        }
    }

    func runCache(_ operation: Operation) {
        switch operation {
        case .readPhoto(let call, let photo):
            if let known = cache[photo] {
                results.append(.photoRead(call, .success(known.isLiked)))
            } else {
                results.append(.photoRead(call, fetch(photo)))
            }
        case .updateCache(let update):
            var hasChanged = false
            if !cacheIsReadOnly {
                let group = Self.group(of: update.like.photo)
                for photo in Self.photos where Self.group(of: photo) == group {
                    guard let known = cache[photo] else { continue }
                    hasChanged = hasChanged || known.isLiked != update.like.isWanted
                    cache[photo] = Cached(isLiked: update.like.isWanted, confirmed: now)
                }
            }
            if update.isCounted, hasChanged || cacheIsReadOnly || update.outcome == .done {
                count = max(0, count + (update.like.isWanted ? 1 : -1))
            }
            if cacheIsReadOnly { isCountKnown = false }
            let isCached = cache[update.like.photo] != nil
            results.append(
                .cacheUpdated(
                    update, cacheIsReadOnly ? .failed : isCached ? .written : .notCached))
        default: break
        }
    }

    func fetch(_ photo: PhotoID) -> Result<Bool, any Error> {
        switch condition {
        case .offline: return .failure(HTTPError.unreachable("offline"))
        case .failing, .answersLost: return .failure(ProviderError.failed("503"))
        case .rateLimited: return .failure(ProviderError.rateLimited(until: nil))
        case .locked: return .failure(SecretStoreError.locked("locked"))
        case .needsLogin: return .failure(ProviderError.unauthorized)
        case .well: break
        }
        let group = Self.group(of: photo)
        guard !gone.contains(group) else {
            cache[photo] = nil
            return .failure(ProviderError.notFound("gone"))
        }
        if cache[photo] == nil { cache[photo] = Cached(isLiked: liked.contains(group)) }
        return .success(cache[photo]?.isLiked ?? false)
    }

    func runRequest() {
        let operation = request
        request = nil
        switch operation {
        case .fetchPhoto(let photo): results.append(.photoFetched(fetch(photo)))
        case .send(let like):
            guard queue.willSend(like) else {
                return results.append(.sent(.failure(CancellationError())))
            }
            results.append(.sent(deliver(like)))
        default: break
        }
    }

    // MARK: Sessions

    /// Kills the daemon and starts it again.
    func kill() throws {
        trace("kill")
        statistics.kills += 1
        // Operations in progress may be completed.
        while !databaseOperations.isEmpty, chance(2) {
            try runDatabase(databaseOperations.removeFirst())
        }
        while !cacheOperations.isEmpty, chance(2) { runCache(cacheOperations.removeFirst()) }
        if case .send(let like) = request, chance(2), queue.willSend(like) { _ = deliver(like) }
        // The outcome of calls without a reply is unknown to their clients.
        for call in calls.values {
            histories[call.group]?.promised = nil
            histories[call.group]?.wanted = nil
            histories[call.group]?.confirmed = nil
        }
        calls = [:]
        // Its overrides were only in memory.
        loseOverrides()
        if case .refusing(let like, _) = queue.delivery {
            histories[Self.group(of: like.photo)]?.promised = nil
            histories[Self.group(of: like.photo)]?.wanted = nil
        }
        startSession()
    }

    /// Forgets the overrides of a cache that cannot be written.
    func loseOverrides() {
        for group in queue.cacheOverrides.keys {
            histories[group]?.confirmed = nil
            histories[group]?.promised = nil
            histories[group]?.wanted = nil
            histories[group]?.isTouched = true
        }
    }

    func startSession() {
        // The record of a confirmed like could not be removed, and the cache does not contain the confirmation.
        for record in (try? tables.read())?.pending ?? [] where hasWriteFailed {
            histories[Self.group(of: record.like.photo)]?.confirmed = nil
        }
        session += 1
        // The record of a refused like could not be removed.
        for like in queue.unremoved where hasWriteFailed {
            histories[Self.group(of: like.photo)]?.mayFail = true
        }
        databaseOperations = []
        cacheOperations = []
        request = nil
        results = []
        queue = LikeQueue(likeGroup: Self.group)
        handle(.loadRequested)
    }

    /// Replaces the session, as a change of the settings does.
    func replaceSession() throws {
        trace("replace")
        handle(.closed(.replaced))
        // The databases work in the order of the calls.
        while !databaseOperations.isEmpty { try runDatabase(databaseOperations.removeFirst()) }
        while !cacheOperations.isEmpty { runCache(cacheOperations.removeFirst()) }
        if case .send(let like) = request, chance(2) {
            check(!queue.willSend(like), "a closed session sends \(like)")
        }
        while !results.isEmpty || !cacheOperations.isEmpty {
            if !results.isEmpty { handle(results.removeFirst()) }
            if !cacheOperations.isEmpty { runCache(cacheOperations.removeFirst()) }
        }
        loseOverrides()
        check(calls.isEmpty, "calls are not answered after a replacement: \(calls)")
        calls = [:]
        startSession()
    }

    /// Logs out and in again, or fails to.
    func logOut() throws {
        trace("log out")
        handle(.closed(.loggingOut))
        while !databaseOperations.isEmpty { try runDatabase(databaseOperations.removeFirst()) }
        for event in results.shuffled(using: &random) where chance(2) { handle(event) }
        guard !diskIsFull else {
            for event in results { handle(event) }
            handle(.closed(.replaced))
            check(calls.isEmpty, "calls are not answered after a failed logout: \(calls)")
            calls = [:]
            loseOverrides()
            return startSession()
        }
        try tables.clear(keepsLocalLikes: false)
        isLoggedOut = true
        handle(.closed(.loggedOut))
        for event in results { handle(event) }
        check(calls.isEmpty, "calls are not answered after a logout: \(calls)")
        isLoggedOut = false
        calls = [:]
        cache = [:]
        for group in Self.groups {
            histories[group] = History(promisedBy: lastCall)
            histories[group]?.isTouched = true
        }
        isCountKnown = false
        startSession()
    }
}
