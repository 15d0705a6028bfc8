internal import ProviderKit
internal import Storage
internal import System

// The transactions of a merge.
extension FeedStore {
    /// Stores a page of a source in short transactions, because other accounts wait for each of them.
    ///
    /// The rows of new photos are inserted first, in pieces. Nothing refers to them before the transaction that stores the
    /// order. The rows of photos that have left the source are deleted at the end, in pieces.
    ///
    /// - Parameters:
    ///   - arrival: The page.
    ///   - source: The source, as it is stored.
    ///   - earlier: The merges of the account, which run one after the other.
    ///   - check: Throws if the page must not be stored. It is called before each transaction that inserts.
    /// - Returns: The changes.
    /// - Throws: ``StorageError``, and the errors of `check`; then the source has not changed.
    func merge(
        _ arrival: FeedTables.Arrival, in source: SourceID, after earlier: ChangeQueue,
        check: @MainActor () throws -> Void
    ) async throws -> FeedTables.Merge {
        try await earlier.run {
            let (account, now) = (arrival.account, arrival.now)
            let size = FeedTables.Bounds().piece
            var arrival = arrival
            let isLarge = arrival.page.photos.count > size
            var photos = arrival.page.photos[...]
            while isLarge, !photos.isEmpty {
                let piece = Array(photos.prefix(size))
                photos = photos.dropFirst(size)
                try check()
                arrival.prepared.formUnion(
                    try await runPaced { (tables) throws(StorageError) in
                        try tables.photos(of: account).prepare(piece, now: now)
                    })
            }
            try check()
            let prepared = arrival
            var merge = try await run { (tables) throws(StorageError) in
                try tables.store(prepared, in: source)
            }
            while !merge.unswept.isEmpty {
                let piece = Array(merge.unswept.prefix(size))
                merge.unswept.removeFirst(piece.count)
                // Best effort: the bounds of the cache delete the other rows.
                let gone = try? await runPaced { (tables) throws(StorageError) in
                    try tables.photos(of: account).sweep(piece, now: now)
                }
                if merge.reportsRemovals { merge.removed += gone ?? [] }
            }
            return merge
        }
    }

    /// Runs a transaction of a large merge, then pauses for three times its duration, so that large merges use at most
    /// a quarter of the time of the database.
    private func runPaced<Value: Sendable>(
        _ body: @escaping @Sendable (FeedTables) throws(StorageError) -> Value
    ) async throws -> Value {
        let start = ContinuousClock.now
        let value = try await run(body)
        let pause = min((.now - start) * 3, .milliseconds(50))
        // After a cancellation, the merge continues without pauses.
        try? await MainLoopClock().sleep(for: pause)
        return value
    }
}
