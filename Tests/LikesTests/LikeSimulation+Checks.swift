import ProviderKit
import Storage

@testable import Likes

// The checks after each step, and at the end.
extension LikeSimulation {
    func checkable() -> Bool {
        queue.isLoaded && queue.writing == nil && queue.writes.isEmpty
            && !results.contains { if case .written = $0 { true } else { false } }
    }

    func checkStep() throws {
        check(queue.consecutiveFailures >= 0 && count >= 0, "a number is negative")
        let groups = queue.entries.map { Self.group(of: $0.like.photo) }
        check(Set(groups).count == groups.count, "two pending likes of a group")
        guard checkable() else { return }
        let records = try tables.read()
        let stored = Set(records.pending.map(\.like))
        let known = Set(queue.entries.map(\.like)).union(queue.unremoved)
        check(stored.isSubset(of: known), "stored \(stored), known \(known)")
        check(
            Set(queue.entries.map(\.like)).isSubset(of: stored),
            "pending \(queue.entries.map(\.like)), stored \(stored)")
        check(records.local == queue.localLikes, "local \(records.local), \(queue.localLikes)")
        if !records.local.isEmpty, !hasWriteFailed {
            check(records.unavailableSince == queue.unavailableSince, "unavailable")
        }
        for photo in Self.photos {
            var shown = Photo(id: photo)
            shown.isLiked = cache[photo]?.isLiked ?? false
            shown = queue.decorate(shown)
            let wanted = stored.first { like in
                queue.entries.contains { $0.like == like }
                    && Self.group(of: like.photo) == Self.group(of: photo)
            }
            check(
                shown.isPending == (wanted.map { $0.isWanted != shown.isLiked } ?? false),
                "\(photo) is shown as pending: \(shown.isPending)")
        }
    }

    /// Completes all work while the service works, and checks the final state.
    func finish() throws {
        trace("finish")
        condition = .well
        diskIsFull = false
        cacheIsReadOnly = false
        for _ in 0..<40 {
            handle(.loadRequested)
            handle(.retryBegan)
            handle(.deliveryRequested)
            var rounds = 0
            while !(databaseOperations.isEmpty && cacheOperations.isEmpty && request == nil
                && results.isEmpty)
            {
                try progress()
                rounds += 1
                guard rounds < 5_000 else {
                    check(false, "the work does not end")
                    return
                }
            }
            try checkStep()
            if queue.isLoaded, queue.entries.isEmpty, queue.unremoved.isEmpty, calls.isEmpty {
                break
            }
        }
        check(queue.entries.isEmpty, "still pending: \(queue.entries.map(\.like))")
        check(calls.isEmpty, "calls without a reply: \(calls.keys.sorted())")
        let records = try tables.read()
        check(records.pending.isEmpty, "records remain: \(records.pending)")
        for group in Self.groups {
            guard let history = histories[group] else { continue }
            if let promised = history.promised,
                !queue.localLikes.contains(where: { Self.group(of: $0.photo) == group })
            {
                check(
                    liked.contains(group) == promised, "\(group) is not \(promised) at the service"
                )
            }
        }
        for photo in Self.photos {
            let group = Self.group(of: photo)
            guard let wanted = histories[group]?.wanted, let cached = cache[photo] else { continue }
            check(
                queue.isLiked(group, cached: cached.isLiked) == wanted,
                "\(photo) is not shown as \(wanted)")
        }
        if isCountKnown, queue.localLikes.isEmpty {
            check(count == liked.count, "\(count) likes are counted of \(liked.count)")
        }
    }
}
