import ProviderKit
import Storage

@testable import Likes

// The checks after each step, and at the end.
extension LikeSimulation {
    /// Returns the state of a photo that clients see; nil if it is not cached.
    private func shown(_ photo: PhotoID) -> Photo? {
        cache[photo].map { session.sender.outbox.decorate(Self.photo(photo, $0)) }
    }

    func checkStep() throws {
        let outbox = session.sender.outbox
        guard session.sender.isLoaded else { return }
        for photo in Self.photos {
            guard let shown = shown(photo) else { continue }
            let group = Self.group(of: photo)
            if let confirmed = histories[group]?.confirmed {
                check(shown.isLiked == confirmed, "\(photo) is not shown as \(confirmed)")
            }
            check(!shown.isPending || outbox.isPending(photo), "\(photo) is shown as pending")
        }
        guard !session.isStoring, !hasWriteFailed else { return }
        func comparable(_ rows: [OutboxRow]) -> [OutboxRow] {
            rows.sorted { $0.position < $1.position }.map { row in
                // The database may have `sending` before the request.
                OutboxRow(
                    photo: row.photo, isWanted: row.isWanted,
                    state: row.state == .sending ? .queued : row.state, position: row.position)
            }
        }
        let (stored, known) = (try table.rows(), outbox.all { !$0.isSettled })
        check(comparable(stored) == comparable(known), "stored \(stored), known \(known)")
        for row in known where row.state == .sending {
            check(
                stored.first { $0.photo == row.photo }?.state == .sending,
                "\(row.photo) is not stored as being sent")
        }
    }

    /// Completes all work while everything is well, and checks the final state.
    func finish() async throws {
        trace("finish")
        condition = .well
        isDataDiskFull = false
        isCacheDiskFull = false
        for _ in 0..<20 {
            try await complete { session.sender.start() }
            if session.sender.isLoaded, !session.sender.hasWork, calls.isEmpty { break }
        }
        check(calls.isEmpty, "calls without a reply: \(calls.keys.sorted())")
        let outbox = session.sender.outbox
        check(outbox.pending.isEmpty, "still pending: \(outbox.pending)")
        let rows = try table.rows()
        check(rows.allSatisfy { !$0.isPending }, "rows remain: \(rows)")
        func isLocal(_ group: String) -> Bool {
            outbox.local.contains { Self.group(of: $0.photo) == group }
        }
        for (group, history) in histories where !isLocal(group) {
            if let promised = history.promised {
                check(
                    liked.contains(group) == promised, "\(group) is not \(promised) at the service")
            }
        }
        try await complete { refresh(isExplicit: true, of: Set(Self.groups)) }
        for photo in Self.photos where !isLocal(Self.group(of: photo)) {
            let group = Self.group(of: photo)
            guard let shown = shown(photo), !gone.contains(group) else { continue }
            check(
                shown.isLiked == liked.contains(group),
                "\(photo) is not shown as at the service after a refresh")
        }
    }

    /// Starts some work, and completes it.
    private func complete(_ work: () -> Void) async throws {
        work()
        await settle()
        var rounds = 0
        while session.hasOperations, failures.isEmpty {
            session.progress(&random)
            await settle()
            try checkStep()
            rounds += 1
            guard rounds < 5_000 else { return check(false, "the work does not end") }
        }
    }
}
