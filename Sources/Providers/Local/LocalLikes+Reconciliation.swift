internal import Logging
internal import ProviderKit
internal import Storage
internal import Synchronization

/// The index and the files in which liked files are searched for.
protocol PictureSearch: Sendable {
    /// Reads the index.
    ///
    /// - Throws: `CancellationError` if the index is in use for another pictures folder; the error of `body`.
    func inspect<Value: Sendable>(
        _ body: @escaping @Sendable (PictureIndex) throws -> Value
    ) async throws -> Value
    /// Stores the contents of files in the index, by row.
    func store(_ contents: [Int64: FileDigest]) async
    /// Reads a file.
    ///
    /// - Returns: nil for a file that cannot be read, or that changes meanwhile.
    func digest(_ path: RelativePath, _ reader: DigestReader) async -> FileDigest?
}

/// Matching liked files with the index after each scan.
extension LocalLikes {
    /// The changes for one user.
    struct Change: Sendable {
        /// Rows that are liked now, or are not liked any more.
        var rows: Set<Int64> = []
        /// The number of rows that are liked now.
        var gained = 0
    }

    /// The number of files that are read before likes are matched again, so that the likes found by then are shown. The
    /// number doubles each time, because each match processes all remaining records.
    private static let firstReads = 4
    private static let maximumReads = 1024
    /// The number of contents that are stored in the index at a time.
    private static let storedAtOnce = 64

    /// Matches liked files with the index, see ``LikedFile``.
    ///
    /// Reads files whose content is unknown, without a limit on their number. Likes can be changed meanwhile.
    ///
    /// - Parameters:
    ///   - changes: The changes that a scan has found; nil to match all liked files.
    ///   - search: The index and its folder.
    ///   - report: Receives the changes of each user, by ``UserName/key``, as soon as they are stored.
    func reconcile(
        _ changes: IndexChanges?, _ search: some PictureSearch,
        _ report: (_ user: String, Change) async -> Void
    ) async {
        do {
            try await load()
            let numbers = affected(changes)
            let evidence = Reconciliation.Evidence()
            let rest = try await reconcileOnce(numbers, evidence, search, report)
            guard !rest.unread.isEmpty else { return }
            try await readQueue.run {
                try await readAndReconcile(rest.undecided, evidence, search, report)
            }
        } catch is CancellationError {
        } catch {
            logger.error(
                "Likes cannot be matched with the files", metadata: ["reason": "\(error)"])
        }
    }

    /// Reads files until all records are decided.
    private func readAndReconcile(
        _ numbers: Set<Int64>, _ evidence: Reconciliation.Evidence, _ search: some PictureSearch,
        _ report: (_ user: String, Change) async -> Void
    ) async throws {
        var numbers = numbers
        var evidence = evidence
        var reads = Self.firstReads
        while !numbers.isEmpty {
            // Another reconciliation may have read the files meanwhile.
            let rest = try await reconcileOnce(numbers, evidence, search, report)
            guard !rest.unread.isEmpty else { return }
            numbers = rest.undecided
            try await read(rest.unread.prefix(reads), search, &evidence)
            reads = min(2 * reads, Self.maximumReads)
        }
    }

    private func reconcileOnce(
        _ numbers: Set<Int64>, _ evidence: Reconciliation.Evidence, _ search: some PictureSearch,
        _ report: (_ user: String, Change) async -> Void
    ) async throws -> (undecided: Set<Int64>, unread: [PictureIndex.Candidate]) {
        guard !numbers.isEmpty else { return ([], []) }
        let (changes, undecided, unread) = try await changeQueue.run {
            try await reconcile(numbers, evidence, search)
        }
        for (user, change) in changes { await report(user, change) }
        return (undecided, unread)
    }

    /// Records which liked files were replaced while their names were never free, until they are reconciled. Called as
    /// soon as the changes are in the index.
    func recordReplacements(_ changes: IndexChanges) {
        state.withLock { state in
            guard !state.numbers.isEmpty else { return }
            for row in changes.removed where state.numbers[row] != nil {
                state.replacements[row] = false
            }
            for row in changes.changed where state.numbers[row] != nil {
                // Once the file may be another photo, later evidence does not concern the liked photo.
                let isProven = state.replacements[row] ?? true
                state.replacements[row] = isProven && changes.replaced.contains(row)
            }
        }
    }

    /// Returns the records that changes concern.
    private func affected(_ changes: IndexChanges?) -> Set<Int64> {
        state.withLock { state in
            guard !state.liked.isEmpty else { return [] }
            guard let changes else { return Set(state.liked.keys) }
            var numbers = Set((changes.changed + changes.removed).compactMap { state.numbers[$0] })
            // The content of a file that is gone may be in a new row, or in a changed one.
            if changes.newCount > 0 || !changes.changed.isEmpty {
                numbers.formUnion(state.liked.filter { $0.value.row == nil }.keys)
            }
            return numbers
        }
    }

    /// Reads files, and stores their contents in batches.
    private func read(
        _ files: some Collection<PictureIndex.Candidate>, _ search: some PictureSearch,
        _ evidence: inout Reconciliation.Evidence
    ) async throws {
        var contents: [Int64: FileDigest] = [:]
        for file in files {
            // Throws if the index is now in use for another folder.
            if contents.isEmpty { try await search.inspect { _ in } }
            let digest = await search.digest(file.path, digests)
            // A file that has changed since the scan is found by the next one.
            guard let digest, digest.stamp == file.stamp else {
                evidence.unreadable.insert(file.row)
                continue
            }
            contents[file.row] = digest
            if contents.count == Self.storedAtOnce {
                await search.store(contents)
                evidence.read.merge(contents) { $1 }
                contents = [:]
            }
        }
        if !contents.isEmpty { await search.store(contents) }
        evidence.read.merge(contents) { $1 }
    }

    // MARK: One match

    private func reconcile(
        _ numbers: Set<Int64>, _ evidence: Reconciliation.Evidence, _ search: some PictureSearch
    ) async throws -> (
        changes: [String: Change], undecided: Set<Int64>, unread: [PictureIndex.Candidate]
    ) {
        let files = try await store.files(numbers)
        var evidence = evidence
        let occupied = state.withLock { state in
            evidence.replaced = Set(state.replacements.filter(\.value).keys)
            return Set(state.numbers.filter { !numbers.contains($0.value) }.keys)
        }
        let result = try await search.inspect { [evidence] index in
            try Reconciliation(files, occupied: occupied, evidence, index)
        }
        var rows: [Int64: Int64?] = [:]
        for file in result.found.values { rows[file.number] = file.row }
        for file in result.gone { rows[file.number] = .some(nil) }
        state.withLock { state in
            guard !state.replacements.isEmpty else { return }
            let decided = Set(result.found.keys).union(result.gone.map(\.number))
            for file in files where decided.contains(file.number) {
                if let row = file.row { state.replacements[row] = nil }
            }
        }
        var taken = occupied.union(result.found.values.compactMap(\.row))
        for file in result.undecided + result.kept {
            // Another record may have the row.
            let isFree = file.row.map { taken.insert($0).inserted } ?? false
            rows[file.number] = isFree ? file.row : .some(nil)
        }
        let (transfers, waiting) = transfers(
            result, try await store.sameContent(as: result.gone), rows)
        let before = Dictionary(uniqueKeysWithValues: files.map { ($0.number, $0) })
        var updates = result.found.values.filter { $0 != before[$0.number] }
        for var file in result.gone where file.row != nil {
            file.row = nil
            updates.append(file)
        }
        let undecided = waiting.union(result.undecided.map(\.number))
        do {
            try await store.update(updates, transfers)
            return (apply(rows, transfers), undecided, result.unread)
        } catch {
            // Locations are determined again after the next start; transfers must be stored.
            logger.error(
                "The locations of liked files cannot be stored", metadata: ["reason": "\(error)"])
            return (apply(rows, []), undecided, result.unread)
        }
    }

    /// Selects the likes of files that are gone and that move to other records of the same content: identical copies.
    ///
    /// - Parameters:
    ///   - result: The reconciliation.
    ///   - sameContent: For each record whose file is gone, the other records of its content.
    ///   - rows: The rows of the reconciled records.
    /// - Returns: The transfers, and the records whose likes may move when other records are decided.
    private func transfers(
        _ result: Reconciliation, _ sameContent: [Int64: [Int64]], _ rows: [Int64: Int64?]
    ) -> (transfers: Set<LocalLikeStore.Transfer>, waiting: Set<Int64>) {
        guard !sameContent.isEmpty else { return ([], []) }
        let undecided = Set(result.undecided.map(\.number))
        var waiting: Set<Int64> = []
        var transfers: Set<LocalLikeStore.Transfer> = []
        state.withLock { state in
            var users = state.liked.mapValues(\.users)
            for file in result.gone {
                let others = (sameContent[file.number] ?? []).filter { other in
                    (rows[other] ?? state.liked[other]?.row) != nil
                }
                if others.contains(where: undecided.contains) {
                    waiting.insert(file.number)
                }
                for user in users[file.number] ?? [] {
                    let recipient = others.first { other in
                        !undecided.contains(other) && users[other]?.contains(user) == false
                    }
                    guard let recipient else { continue }
                    users[recipient]?.insert(user)
                    transfers.insert(.init(user: user, from: file.number, to: recipient))
                }
            }
        }
        return (transfers, waiting)
    }

    /// Applies a stored reconciliation to the state.
    private func apply(
        _ rows: [Int64: Int64?], _ transfers: Set<LocalLikeStore.Transfer>
    ) -> [String: Change] {
        state.withLock { state in
            let numbers = Set(rows.keys).union(transfers.map(\.to))
            let before = state.rows(of: numbers)
            // First clear all rows, then assign them: a record may get the row of another.
            for number in rows.keys { state.moveRecord(number, to: nil) }
            for (number, row) in rows { state.moveRecord(number, to: row) }
            for transfer in transfers {
                state.liked[transfer.to]?.users.insert(transfer.user)
                state.remove(transfer.user, transfer.from)
            }
            let after = state.rows(of: numbers)
            var changes: [String: Change] = [:]
            for (name, user) in state.users {
                let (old, new) = (before[user] ?? [], after[user] ?? [])
                guard old != new else { continue }
                changes[name] = Change(
                    rows: old.symmetricDifference(new), gained: new.subtracting(old).count)
            }
            return changes
        }
    }
}

extension LocalLikes.State {
    /// Returns the rows of records, by user.
    fileprivate func rows(of numbers: Set<Int64>) -> [Int64: Set<Int64>] {
        var rows: [Int64: Set<Int64>] = [:]
        for number in numbers {
            guard let entry = liked[number], let row = entry.row else { continue }
            for user in entry.users { rows[user, default: []].insert(row) }
        }
        return rows
    }
}
