internal import Logging
internal import ProviderKit
internal import Storage
internal import Synchronization

/// Where files are looked for that somebody likes.
protocol PictureSearch: Sendable {
    /// Reads the index.
    func inspect<Value: Sendable>(
        _ body: @escaping @Sendable (PictureIndex) throws -> Value
    ) async throws -> Value
    /// Writes to it.
    func note(_ digests: [Int64: FileDigest]) async
    /// The absolute path of a file.
    func absolute(_ path: RelativePath) -> [UInt8]
}

/// Keeping likes in line with the files, after each scan.
extension Favourites {
    /// What changed for one user.
    struct Change: Sendable {
        /// Rows that are liked now, or are not any more.
        var rows: Set<Int64> = []
        /// How many came to the likes.
        var gained = 0
    }

    /// How many files are read at a time, while likes wait.
    private static let readsInTurn = 64
    /// How many turns one scan is worth: a file that was not read then is read after a later one.
    private static let maximumTurns = 16

    /// Follows liked files to where they are now.
    ///
    /// A file whose stamp is the known one is taken for the same. Another at the same place was edited, unless
    /// what it held is found elsewhere. One that is gone is looked for among the files of its size; if it is not
    /// there, its likes wait for it.
    ///
    /// - Parameters:
    ///   - changes: What a scan has found; nil for a scan of everything.
    ///   - search: The index and its folder.
    /// - Returns: What changed, by ``UserName/key``.
    func settle(_ changes: IndexChanges?, _ search: some PictureSearch) async -> [String: Change] {
        var total: [String: Change] = [:]
        do {
            try await load()
            for turn in 0..<Self.maximumTurns {
                // What was read in the first turn says where to go on.
                let numbers = numbers(turn == 0 ? changes : IndexChanges(new: [.root: 1]))
                guard !numbers.isEmpty else { break }
                let settling = try await turns.run { try await settle(numbers, search) }
                if !settling.read.isEmpty { await search.note(settling.read) }
                for (user, change) in settling.changes {
                    total[user, default: Change()].rows.formUnion(change.rows)
                    total[user, default: Change()].gained += change.gained
                }
                guard settling.readsLeft <= 0 else { break }
            }
        } catch {
            logger.error(
                "Likes cannot be brought in line with the files", metadata: ["reason": "\(error)"])
        }
        return total
    }

    /// The keepsakes that changes concern.
    private func numbers(_ changes: IndexChanges?) -> [Int64] {
        state.withLock { state in
            guard !state.liked.isEmpty else { return [] }
            guard let changes else { return Array(state.liked.keys) }
            var numbers = Set((changes.changed + changes.removed).compactMap { state.numbers[$0] })
            // What left its row may have come back as a new one; what was away, too.
            if changes.newCount > 0 {
                numbers.formUnion(state.liked.filter { $0.value.row == nil }.keys)
            }
            return Array(numbers)
        }
    }

    // MARK: One turn

    fileprivate struct Settling: Sendable {
        var changes: [String: Change] = [:]
        /// What was read.
        var read: [Int64: FileDigest] = [:]
        var readsLeft = Favourites.readsInTurn
        /// Rows that belong to a keepsake.
        var claimed: Set<Int64> = []
        /// Keepsakes that are other than they were.
        var updated: [Keepsake] = []
        /// Where each keepsake is now.
        var rows: [Int64: Int64] = [:]
    }

    /// What the index says of a keepsake.
    private enum Finding: Sendable {
        case same(row: Int64, RelativePath)
        /// Another file is where it was, or the same after a change.
        case other(row: Int64, RelativePath)
        case gone
    }

    private func settle(
        _ numbers: [Int64], _ search: some PictureSearch
    ) async throws -> Settling {
        var settling = Settling()
        let keepsakes = try await store.keepsakes(numbers)
        let findings = try await search.inspect { index in
            try keepsakes.map { try Self.find($0, index) }
        }
        settling.claimed = state.withLock { state in
            Set(state.numbers.filter { !numbers.contains($0.value) }.keys)
        }
        for (keepsake, finding) in zip(keepsakes, findings) {
            guard case .same(let row, let path) = finding,
                settling.claimed.insert(row).inserted
            else { continue }
            settling.place(keepsake, at: row, path)
        }
        for (keepsake, finding) in zip(keepsakes, findings)
        where settling.rows[keepsake.number] == nil {
            try await place(keepsake, finding, search, &settling)
        }
        try await store.update(settling.updated)
        adopt(&settling, keepsakes)
        return settling
    }

    private static func find(
        _ keepsake: Keepsake, _ index: PictureIndex
    ) throws(StorageError) -> Finding {
        let picture = try index.picture(keepsake.row)
        if let picture, keepsake.isAs(picture) { return .same(row: keepsake.row, picture.path) }
        let there = try index.picture(at: keepsake.path)
        if let there, keepsake.isAs(there) { return .same(row: there.file.id, there.path) }
        return (picture ?? there).map { .other(row: $0.file.id, $0.path) } ?? .gone
    }

    /// Finds out where a keepsake is whose file is not as it was known.
    private func place(
        _ keepsake: Keepsake, _ finding: Finding, _ search: some PictureSearch,
        _ settling: inout Settling
    ) async throws {
        var present: (row: Int64, path: RelativePath, digest: FileDigest?)?
        if case .other(let row, let path) = finding, !settling.claimed.contains(row) {
            settling.readsLeft -= 1
            let digest = await digests.digest(ofFile: search.absolute(path))
            present = (row, path, digest)
        }
        if let present, present.digest.map({ $0.bytes == keepsake.digest }) ?? true {
            // The same, or nobody can tell now.
            settling.claimed.insert(present.row)
            return settling.place(keepsake, at: present.row, present.path, present.digest)
        }
        if let (row, path, digest) = try await heir(of: keepsake, search, &settling),
            present == nil || !path.isBackup(of: keepsake.path)
        {
            settling.claimed.insert(row)
            return settling.place(keepsake, at: row, path, digest)
        }
        // Edited.
        guard let present else { return }
        settling.claimed.insert(present.row)
        settling.place(keepsake, at: present.row, present.path, present.digest)
    }

    /// The file that holds what a liked one held.
    private func heir(
        of keepsake: Keepsake, _ search: some PictureSearch, _ settling: inout Settling
    ) async throws -> (row: Int64, path: RelativePath, digest: FileDigest)? {
        let claimed = settling.claimed
        let name = keepsake.path.split?.name
        let candidates = try await search.inspect { index in
            try index.photos(size: keepsake.size).filter { !claimed.contains($0.row) }
                // Most files that are moved keep their names.
                .sorted {
                    ($0.path.split?.name == name ? 0 : 1) < ($1.path.split?.name == name ? 0 : 1)
                }
        }
        for candidate in candidates {
            var digest = settling.read[candidate.row]
            if let bytes = candidate.digest {
                digest = FileDigest(
                    bytes: bytes, size: candidate.stamp.sizeBytes,
                    modified: candidate.stamp.modified)
            }
            if digest == nil, settling.readsLeft > 0 {
                settling.readsLeft -= 1
                digest = await digests.digest(ofFile: search.absolute(candidate.path))
                settling.read[candidate.row] = digest
            }
            if let digest, digest.bytes == keepsake.digest, digest.size == keepsake.size {
                return (candidate.row, candidate.path, digest)
            }
        }
        return nil
    }

    /// Lets what was found count.
    private func adopt(_ settling: inout Settling, _ keepsakes: [Keepsake]) {
        let rows = settling.rows
        settling.changes = state.withLock { state in
            var changes: [String: Change] = [:]
            let names = Dictionary(state.users.map { ($1, $0) }) { first, _ in first }
            let before = keepsakes.map { state.liked[$0.number]?.row }
            // First all go, then all come: one may have taken another's place.
            for keepsake in keepsakes { state.place(keepsake.number, at: nil) }
            for (keepsake, before) in zip(keepsakes, before) {
                let after = rows[keepsake.number]
                state.place(keepsake.number, at: after)
                guard before != after else { continue }
                for user in state.liked[keepsake.number]?.users ?? [] {
                    guard let name = names[user] else { continue }
                    changes[name, default: Change()].rows.formUnion(
                        [before, after].compactMap(\.self))
                    if after != nil { changes[name]?.gained += 1 }
                }
            }
            return changes
        }
    }
}

extension Favourites.Settling {
    fileprivate mutating func place(
        _ keepsake: Keepsake, at row: Int64, _ path: RelativePath, _ digest: FileDigest? = nil
    ) {
        rows[keepsake.number] = row
        var found = keepsake
        found.row = row
        found.path = path
        if let digest {
            found.digest = digest.bytes
            found.size = digest.size
            found.modified = digest.modified
        }
        if found != keepsake { updated.append(found) }
    }
}

extension Keepsake {
    /// Whether a file is the one that is known, as far as that can be told without reading it.
    fileprivate func isAs(_ picture: PictureIndex.Picture) -> Bool {
        picture.file.stamp.sizeBytes == size && picture.file.stamp.modified == modified
    }
}
