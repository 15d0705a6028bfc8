internal import ProviderKit
internal import Storage

/// The decision which files marked photos are in; see ``PhotoFile``.
extension FolderScan {
    /// A marked photo whose file is not decided.
    private struct OpenPhoto {
        var file: PhotoFile
        /// True if the photo was not in the index before the scan.
        let isMissing: Bool
        /// The file at the path of the photo.
        var own: Candidate?
        /// True if that file may be an edit of the photo.
        var mayBeEdit = false
        /// True if events show that this is the file: it was moved there, or has replaced the former one.
        var isCertain = false
    }

    /// Finds the files of the marked photos that have moved or changed, or that are missing: first those that are at
    /// their path, then those whose image data is elsewhere, then those that were edited.
    ///
    /// - Throws: `StorageError`, `CancellationError`.
    func identifyMarked() throws {
        guard !marks.isEmpty || !doubts.isEmpty || !movedMarks.isEmpty else { return }
        let doubted = try byCount(doubts.values.map(\.place))
        var (new, newCounts): ([Candidate]?, [Int64: [Candidate]]?)
        func newPlaces() throws -> [Candidate] {
            let known = try new ?? places { try $0.uncompared() }
            new = known
            return known
        }
        func newByCount() throws -> [Int64: [Candidate]] {
            let known = try newCounts ?? byCount(newPlaces())
            newCounts = known
            return known
        }
        // An interrupted scan may have added the files of missing photos to a lost index.
        var missing = marks.missing
        if !isRebuilding, !missing.isEmpty {
            let paths = try Set(newPlaces().map(\.path)).union(doubts.keys).union(storedPaths)
            let counts = try Set(newByCount().keys).union(doubted.keys)
            let files = paths.isEmpty ? [] : try marks.storedFiles(missing)
            missing = Set(
                files.filter { paths.contains($0.path) || counts.contains($0.digest.count) }
                    .map(\.id))
        }
        var (gone, hidden) = try goneMarked()
        // The files that are no images while they are edited may be moved as well.
        let moved = movedMarks.filter { $0.value.edit == nil }.keys
        hidden.formUnion(
            try index { index in try moved.filter { try index.file($0)?.format == nil } })
        var open = try openPhotos(gone, missing)
        guard
            !open.isEmpty || !hidden.isEmpty || !movedMarks.isEmpty || !doubts.isEmpty
                || !unread.isEmpty
        else { return }
        var files: [PhotoFile] = []
        for var file in try marks.storedFiles(movedMarks.keys) {
            guard let (path, stamp, edit) = movedMarks[file.id] else { continue }
            (file.root, file.path, file.stamp) = (root, path, stamp)
            // A file that has moved meanwhile is found by its new stamp.
            if edit != nil, let result = try read(path) {
                guard result.stamp == stamp, let digest = result.digest else {
                    unavailable.insert(path)
                    movedMarks[file.id] = nil
                    continue
                }
                file.digest = digest
            }
            files.append(file)
        }
        var found: [(file: PhotoFile, place: Candidate)] = []
        var taken: Set<RelativePath> = []
        func take(_ place: Candidate, _ photo: OpenPhoto) {
            var file = photo.file
            (file.root, file.path) = (root, place.path)
            (file.stamp, file.isGone) = (place.stamp, false)
            taken.insert(place.path)
            found.append((file, place))
        }
        func isFree(_ place: Candidate) -> Bool {
            // A file that could not be read may still be that of another marked photo.
            place.format != nil && !taken.contains(place.path) && !unavailable.contains(place.path)
        }
        open = try open.filter { photo in
            guard let own = photo.own, isFree(own),
                try photo.isMissing && own.stamp.content == photo.file.stamp.content
                    || isSame(own, photo.file)
            else { return true }
            take(own, photo)
            return false
        }
        func isOpen(_ photo: OpenPhoto, in places: [Candidate]) throws -> Bool {
            let name = photo.file.path.split?.name
            let possible = places.filter(isFree)
            let sameName = possible.filter { $0.name == name }
            for place in sameName + possible.filter({ $0.name != name }) {
                guard try isSame(place, photo.file) else {
                    if readings[place.path] == nil { unread.append(place) }
                    continue
                }
                take(place, photo)
                return false
            }
            return true
        }
        open = try open.filter { photo in
            guard !photo.isCertain else { return true }
            var possible = doubted[photo.file.digest.count] ?? []
            // A file that was written in place is not compared with earlier copies of the photo. A new file may have the inode
            // number of the photo.
            let isWritten = photo.mayBeEdit && photo.own?.stamp.inode == photo.file.stamp.inode
            if photo.isMissing ? isRebuilding : !isWritten {
                possible += try places { try $0.photos(size: photo.file.stamp.sizeBytes) }
            }
            if !photo.isMissing || !isRebuilding {
                possible += try newByCount()[photo.file.digest.count] ?? []
            }
            return try isOpen(photo, in: possible)
        }
        // All photos of a lost index are new, so their headers are read only if files of the same size are not enough.
        open = try open.filter { photo in
            guard photo.isMissing, isRebuilding, !photo.isCertain else { return true }
            return try isOpen(photo, in: newByCount()[photo.file.digest.count] ?? [])
        }
        var lost: [PhotoFile] = []
        let digests = Set(found.map(\.file.digest))
        for var photo in open {
            // A photo that was gone may be an earlier copy of a found one.
            guard photo.mayBeEdit, let own = photo.own, own.format == nil || isFree(own),
                !photo.file.isGone || !digests.contains(photo.file.digest)
            else {
                lost.append(photo.file)
                continue
            }
            if own.format == nil {
                // The edit may be completed later, as after a save on a full disk. Until then the row belongs to the photo, so
                // that a scan finds the end of the file.
                hidden.insert(photo.file.id)
            } else if let digest = try digest(of: own) {
                photo.file.digest = digest
                take(own, photo)
            } else {
                unavailable.insert(own.path)
            }
        }
        // The marks are stored first: from these, a scan after a crash finds the photos again.
        let (gained, recipients) = try marks.commit(
            files + found.map(\.file), lost: lost, hidden: hidden)
        for (user, count) in gained { changes.gainedLikes[user, default: 0] += count }
        changes.changed.formUnion(recipients)
        try transaction { index throws(StorageError) in
            for file in lost { try remove(file.id, index) }
            // A file on an absent disk may be a copy of a lost photo: another stamp lets its next scan compare it.
            for place in unread {
                if let row = try index.file(folder: place.folderID, name: place.name) {
                    try index.setStamp(FileStamp(inode: 0, sizeBytes: 0, modified: 0), of: row.id)
                }
            }
            let moving = Set(found.map(\.file.id))
            for (file, place) in found { try move(file.id, to: place, besides: moving, index) }
            let others = doubts.filter { !taken.contains($0.key) && !unavailable.contains($0.key) }
            for place in movedMarks.values.compactMap(\.edit) + others.values.map(\.place) {
                try store(place, index.file(folder: place.folderID, name: place.name), index)
            }
        }
        (doubts, movedMarks, storedPaths) = ([:], [:], [])
    }

    /// Returns the photos to be decided. Photos that were in the index have precedence over missing ones, and those over
    /// photos that were gone.
    private func openPhotos(_ gone: Set<Int64>, _ missing: Set<Int64>) throws -> [OpenPhoto] {
        let doubts = Dictionary(doubts.values.map { ($0.id, $0) }) { $1 }
        let known = gone.union(doubts.keys).subtracting(movedMarks.keys)
        let changed = try marks.storedFiles(known).compactMap { file -> OpenPhoto? in
            let doubt = doubts[file.id]
            // The row at the path may be that of another known file, which was moved there.
            let own = try doubt?.place ?? place(at: file.path)
            let mayBeEdit = doubt?.mayBeEdit == true
            if let own, own.format != nil,
                try read(own.path, expecting: file.digest.count) == nil
            {
                guard doubt == nil else {
                    unavailable.insert(own.path)
                    return nil
                }
                unread.append(own)
            }
            let isAtPath = try mayBeEdit || own.map { try isSame($0, file) } == true
            let moved = try isAtPath ? nil : movedPlace(of: file)
            return OpenPhoto(
                file: file, isMissing: false, own: moved ?? own,
                mayBeEdit: mayBeEdit || moved != nil, isCertain: moved != nil)
        }
        let missing = missing.subtracting(known).subtracting(movedMarks.keys)
        let stored = try marks.storedFiles(missing)
        return try changed
            + (stored.filter { !$0.isGone } + stored.filter(\.isGone)).compactMap { file in
                let own = try place(at: file.path)
                let wasFree = watcher.wasFree(file.path, events)
                let mayBeKnown = file.root == root && !file.isGone
                if own == nil, isRebuilding || mayBeKnown {
                    // The photo is shown again when what hides it is removed, or when a program that has renamed it to a
                    // backup writes the new file.
                    let isAbsent = existing([file.path]).isEmpty
                    if try isAbsent
                        ? isRebuilding && wasFree == false
                        : isHidden(file.path) || isBelowMarker(file.path)
                    {
                        return nil
                    }
                }
                // The files of a lost index, and files that were hidden, may have been edited. A link may lead to another
                // photo, and another pictures folder has other photos.
                let isUnreplaced = own?.stamp.inode == file.stamp.inode
                let mayBeEdit =
                    own != nil && wasFree != true
                    && (isUnreplaced
                        ? isRebuilding || mayBeKnown
                        : mayBeKnown && !files.areLinks([absolute(file.path)])[0])
                // If the former file was moved to another path, both files may have been exchanged.
                let isReplaced =
                    mayBeEdit && mayBeKnown && wasFree == false
                    && events.destination(of: file.path) ?? file.path == file.path
                var moved: Candidate?
                if isRebuilding, mayBeKnown, !mayBeEdit,
                    try own.map({ try isSame($0, file) }) != true
                {
                    moved = try movedPlace(of: file)
                }
                return OpenPhoto(
                    file: file, isMissing: true, own: moved ?? own,
                    mayBeEdit: mayBeEdit || moved != nil, isCertain: isReplaced || moved != nil)
            }
    }

    /// Returns the place to which events show that the file of a photo was moved, unless another marked photo may
    /// be there.
    private func movedPlace(of file: PhotoFile) throws -> Candidate? {
        guard let path = events.destination(of: file.path) else { return nil }
        let place: Candidate? =
            if let doubt = doubts[path] {
                doubt.mayBeEdit ? nil : doubt.place
            } else {
                try self.place(at: path)
            }
        return try place?.format != nil && read(path)?.digest != nil ? place : nil
    }

    /// Returns the marked photos whose files are absent, and those whose files are not shown any more, or have become
    /// backups, after which a program writes the new file.
    private func goneMarked() throws -> (gone: Set<Int64>, hidden: Set<Int64>) {
        let absent = try index { index in
            try missing.filter { try marks.contains($0.id) && isMissing($0, index) }
        }
        let hidden = Set(
            try absent.filter {
                try isHidden($0.path) || watcher.wasFree($0.path, events) == false
            }.map(\.id))
        return (Set(absent.map(\.id)).subtracting(hidden), hidden)
    }

    /// Returns true if a file at a path is not shown.
    private func isHidden(_ path: RelativePath) throws -> Bool {
        try filter.hidesFile(path)
            || isHiddenRaw(path) && files.lookUp([absolute(path)])[0].status != nil
            || path.split?.folder.isOrIsBelow {
                hidden.contains($0) || filter.hidesFolder($0)
            } == true
    }

    /// Returns true if a folder above a path contains a file that hides it, which an earlier scan may have found.
    private func isBelowMarker(_ path: RelativePath) -> Bool {
        path.split?.folder.isOrIsBelow { folder in
            !existing(Set(PhotoFilter.markers.map(folder.appending))).isEmpty
        } == true
    }

    // MARK: Search

    /// Returns true if a file can be read and has the image data of a photo.
    func isSame(_ place: Candidate, _ file: PhotoFile) throws -> Bool {
        try read(place.path, expecting: file.digest.count)?.digest == file.digest
    }

    /// Returns the digest of a file; nil if it cannot be read or has changed since it was found, so that it may be another
    /// photo.
    private func digest(of place: Candidate) throws -> FileDigest? {
        guard let result = try read(place.path), result.stamp == place.stamp else { return nil }
        return result.digest
    }

    private func read(
        _ path: RelativePath, expecting count: Int64? = nil
    ) throws -> DigestReader.Result? {
        if let known = readings[path],
            known.digest != nil || count.map({ $0 != known.count }) == true
        {
            return known
        }
        guard !isStopped() else { throw CancellationError() }
        let result = files.digests([absolute(path)], marks.digests, expecting: count)[0]
        readings[path] = result
        return result
    }

    /// Returns the file of the index at a path, unless it belongs to a marked photo.
    private func place(at path: RelativePath) throws -> Candidate? {
        try places { try [$0.file(at: path)?.file].compactMap(\.self) }.first
    }

    /// Returns files of the index that belong to no marked photo.
    private func places(
        _ find: (PictureIndex) throws -> [PictureIndex.File]
    ) throws -> [Candidate] {
        try index(find).filter { !marks.contains($0.id) }.map {
            Candidate(
                folderID: $0.folderID, path: $0.path, stamp: $0.stamp, mayBeLink: false,
                format: $0.format)
        }
    }

    /// Returns files by the number of bytes of their image data.
    private func byCount(_ places: [Candidate]) throws -> [Int64: [Candidate]] {
        var byCount: [Int64: [Candidate]] = [:]
        var rest = places[...]
        while !rest.isEmpty {
            guard !isStopped() else { throw CancellationError() }
            let batch = rest.prefix(Self.filesAtOnce)
            rest = rest.dropFirst(Self.filesAtOnce)
            // No file has the expected number of bytes, so only the headers are read.
            let results = files.digests(
                batch.map { absolute($0.path) }, marks.digests, expecting: -1)
            for (place, result) in zip(batch, results) {
                guard let result else {
                    unread.append(place)
                    continue
                }
                byCount[result.count, default: []].append(place)
            }
        }
        return byCount
    }

    // MARK: Storing

    private func remove(_ id: Int64, _ index: PictureIndex) throws(StorageError) {
        guard let row = try index.file(id) else { return }
        if row.format != nil { changes.remove(id, from: row.folder) }
        try index.delete(id)
    }

    /// Gives the file at a place the row of a marked photo.
    ///
    /// - Parameters:
    ///   - id: The photo.
    ///   - place: The file.
    ///   - others: The photos that move as well; a row of another photo at the place is deleted.
    ///   - index: The index.
    /// - Throws: `StorageError`.
    private func move(
        _ id: Int64, to place: Candidate, besides others: Set<Int64>, _ index: PictureIndex
    ) throws(StorageError) {
        let (folder, name) = (place.folder, place.name)
        if let row = try index.file(folder: place.folderID, name: name), row.id != id {
            if others.contains(row.id) {
                try index.displace(row)
            } else {
                try remove(row.id, index)
            }
        }
        guard let former = try index.file(id) else {
            try index.insert(id, folder: place.folderID, name: name, place.stamp, place.format)
            return changes.add(id, in: folder)
        }
        try index.rename(id, folder: place.folderID, name: name)
        let position = try index.update(former, place.stamp, place.format)
        guard former.format != nil else { return changes.add(id, in: folder) }
        changes.changed.insert(id)
        if former.folderID != place.folderID {
            changes.move(from: former.folder, to: folder)
        } else {
            changes.reposition(in: folder, from: former.position, to: position)
        }
    }
}
