internal import Storage

/// The locations of liked files according to the index, see ``LikedFile``. Reads no files.
struct Reconciliation: Sendable {
    /// The records that have a location, with the location and the content that is there.
    private(set) var found: [Int64: LikedFile] = [:]
    /// The records whose file is gone.
    private(set) var gone: [LikedFile] = []
    /// The records whose location depends on the content of unread files.
    private(set) var undecided: [LikedFile] = []
    /// The records whose file was changed and cannot be read. Their locations do not change.
    private(set) var kept: [LikedFile] = []
    /// The files to read, those with the highest priority first.
    private(set) var unread: [PictureIndex.Candidate] = []

    private let evidence: Evidence
    /// Rows that belong to a record.
    private var occupied: Set<Int64>
    private var unreadRows: Set<Int64> = []
    /// The photos of each size that was searched for.
    private var sizeGroups: [Int64: SizeGroup] = [:]

    /// Facts that the index does not contain.
    struct Evidence: Sendable {
        /// Rows whose file was replaced while its name was never free.
        var replaced: Set<Int64> = []
        /// Files that were read.
        var read: [Int64: FileDigest] = [:]
        /// Rows of files that cannot be read.
        var unreadable: Set<Int64> = []
    }

    /// Finds liked files.
    ///
    /// - Parameters:
    ///   - files: The records to reconcile, each with its last known location.
    ///   - occupied: The rows of all other records.
    ///   - evidence: Facts that the index does not contain.
    ///   - index: The index after a scan.
    /// - Throws: `StorageError`.
    init(
        _ files: [LikedFile], occupied: Set<Int64>, _ evidence: Evidence, _ index: PictureIndex
    ) throws(StorageError) {
        self.occupied = occupied
        self.evidence = evidence
        // The first step assigns unchanged files, whose rows are occupied then.
        var open: [LikedFile] = []
        for file in files {
            if let same = try unchanged(file, index), self.occupied.insert(same.row).inserted {
                setLocation(file, same, nil)
            } else {
                open.append(file)
            }
        }
        // The second step assigns files with a new stamp and unchanged content.
        var changed: [(file: LikedFile, current: PictureIndex.Candidate?)] = []
        for file in open {
            guard let row = file.row, let current = try index.candidate(row),
                !self.occupied.contains(row)
            else {
                changed.append((file, nil))
                continue
            }
            if let digest = digest(current) {
                if digest.hasContent(of: file.content) {
                    self.occupied.insert(row)
                    setLocation(file, current, digest)
                } else {
                    changed.append((file, current))
                }
            } else if evidence.unreadable.contains(row) {
                self.occupied.insert(row)
                kept.append(file)
            } else {
                request(current)
                undecided.append(file)
            }
        }
        // The third step assigns content at another location. Edits are last, because unchanged content has precedence.
        var edited: [(file: LikedFile, current: PictureIndex.Candidate)] = []
        for (file, current) in changed {
            let search = try search(file, index)
            if let match = search.match {
                if let current, !self.occupied.contains(current.row),
                    match.path.isBackup(of: file.path), !isAnotherPhoto(current, file)
                {
                    self.occupied.insert(current.row)
                    setLocation(file, current, digest(current))
                } else {
                    self.occupied.insert(match.row)
                    setLocation(file, match, digest(match))
                }
            } else if search.isUnread {
                undecided.append(file)
            } else if let current, isEdited(file, current) {
                edited.append((file, current))
            } else {
                gone.append(file)
            }
        }
        let sizes = Set(undecided.map(\.content.stamp.sizeBytes))
        for candidate in sizes.sorted().flatMap({ sizeGroups[$0]?.unread ?? [] })
        where !self.occupied.contains(candidate.row) {
            request(candidate)
        }
        for (file, current) in edited {
            if self.occupied.insert(current.row).inserted {
                setLocation(file, current, digest(current))
            } else {
                gone.append(file)
            }
        }
    }

    private mutating func setLocation(
        _ file: LikedFile, _ candidate: PictureIndex.Candidate, _ content: FileDigest?
    ) {
        var file = file
        file.row = candidate.row
        file.path = candidate.path
        if let content { file.content = content }
        found[file.number] = file
    }

    private mutating func request(_ candidate: PictureIndex.Candidate) {
        if unreadRows.insert(candidate.row).inserted { unread.append(candidate) }
    }

    private func unchanged(
        _ file: LikedFile, _ index: PictureIndex
    ) throws(StorageError) -> PictureIndex.Candidate? {
        if let row = file.row, let candidate = try index.candidate(row),
            candidate.stamp == file.content.stamp
        {
            return candidate
        }
        let candidate = try index.candidate(at: file.path)
        return candidate?.stamp == file.content.stamp ? candidate : nil
    }

    /// Returns the content of a candidate if it is known.
    private func digest(_ candidate: PictureIndex.Candidate) -> FileDigest? {
        if let digest = candidate.digest { return digest }
        guard let digest = evidence.read[candidate.row], digest.stamp == candidate.stamp else {
            return nil
        }
        return digest
    }

    /// Searches for the content of a liked file among the photos that belong to no record.
    ///
    /// - Returns: The photo. If there is none, true if it may be among photos that were not read.
    private mutating func search(
        _ file: LikedFile, _ index: PictureIndex
    ) throws(StorageError) -> (match: PictureIndex.Candidate?, isUnread: Bool) {
        let size = file.content.stamp.sizeBytes
        let group: SizeGroup
        if let known = sizeGroups[size] {
            group = known
        } else {
            group = SizeGroup(try index.photos(size: size), evidence.unreadable, digest)
            sizeGroups[size] = group
        }
        // Most files that are moved keep their names.
        let name = file.path.split?.name ?? []
        let matches = (group.read[file.content.bytes] ?? []).filter { !occupied.contains($0.row) }
        if let match = matches.first(where: { $0.path.split?.name == name }) ?? matches.first {
            return (match, false)
        }
        guard group.unread.contains(where: { !occupied.contains($0.row) }) else {
            return (nil, false)
        }
        for candidate in group.unreadNames[name] ?? [] where !occupied.contains(candidate.row) {
            request(candidate)
        }
        return (nil, true)
    }

    /// The photos of a size.
    private struct SizeGroup: Sendable {
        /// The photos that were read, by content.
        var read: [[UInt8]: [PictureIndex.Candidate]] = [:]
        var unread: [PictureIndex.Candidate] = []
        var unreadNames: [[UInt8]: [PictureIndex.Candidate]] = [:]

        init(
            _ candidates: [PictureIndex.Candidate], _ unreadable: Set<Int64>,
            _ digest: (PictureIndex.Candidate) -> FileDigest?
        ) {
            for candidate in candidates {
                if let digest = digest(candidate) {
                    read[digest.bytes, default: []].append(candidate)
                } else if !unreadable.contains(candidate.row) {
                    unread.append(candidate)
                    unreadNames[candidate.path.split?.name ?? [], default: []].append(candidate)
                }
            }
        }
    }

    /// Returns true if the capture times prove that a file is another photo.
    private func isAnotherPhoto(_ current: PictureIndex.Candidate, _ file: LikedFile) -> Bool {
        guard let before = file.content.taken, let after = digest(current)?.taken else {
            return false
        }
        return !before.matches(after)
    }

    private func isEdited(_ file: LikedFile, _ current: PictureIndex.Candidate) -> Bool {
        guard let digest = digest(current) else { return false }
        return file.isEdited(
            as: digest, wasReplacedAtOnce: evidence.replaced.contains(current.row))
    }
}
