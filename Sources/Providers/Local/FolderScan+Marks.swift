internal import ImageMetadata
internal import ProviderKit
internal import Storage

/// The decision which files marked photos are in; see ``PhotoFile``.
extension FolderScan {
    /// A file that a marked photo may be in.
    final class Place {
        let path: RelativePath
        var stamp: FileStamp
        /// The row, which belongs to no other marked photo; nil for a doubtful file.
        let row: Int64?
        /// The doubtful file; nil for a file that has a row.
        let candidate: Candidate?
        /// The format of the doubtful file.
        let format: ImageFormat?
        /// The row that was at the path of the doubtful file.
        let known: PictureIndex.File?
        /// True if the last scan has found the doubtful file at another path, so that it is no edit of the file at this
        /// one.
        let isMoved: Bool
        /// nil before the file was read, and for a file that cannot be read.
        var content: FileDigest?
        var isRead: Bool
        var isTaken = false

        init(
            _ candidate: Candidate, _ format: ImageFormat?, _ known: PictureIndex.File?,
            isMoved: Bool
        ) {
            path = candidate.path.appending(candidate.name)
            (stamp, row, isRead) = (candidate.stamp, nil, false)
            self.candidate = candidate
            self.format = format
            self.known = known
            self.isMoved = isMoved
        }

        init(_ photo: PhotoFile) {
            (path, stamp, row, content) = (photo.path, photo.stamp, photo.id, photo.content)
            (candidate, format, known, isMoved) = (nil, nil, nil, false)
            isRead = content != nil
        }
    }

    /// Finds the files of the marked photos that have changed or that are missing, and stores the doubtful files.
    ///
    /// - Throws: `StorageError`, `CancellationError`.
    func identifyMarked() throws {
        let gone = try goneRows { marks.contains($0) }
        // A folder may have files that could not be read when a photo became missing.
        var ids = gone.union(visitedPaths.isEmpty ? [] : marks.missing)
        for place in doubtful.values {
            if let id = place.known?.id, marks.contains(id) { ids.insert(id) }
            ids.formUnion(missingMarks.photos(place.path, sizeBytes: place.stamp.sizeBytes))
        }
        guard !ids.isEmpty || !movedMarks.isEmpty || !doubtful.isEmpty else { return }
        let moved = try marks.storedFiles(movedMarks.keys).map { file in
            guard let (path, stamp) = movedMarks[file.id] else { return file }
            var file = file
            // With another inode, it may be a copy, which has its own time of creation.
            if stamp.inode != file.stamp.inode { file.content?.birth = files.birth(absolute(path)) }
            (file.path, file.stamp) = (path, stamp)
            return file
        }
        let open = try marks.storedFiles(ids.subtracting(moved.map(\.id)))
        let (found, lost) = try findMarked(open)
        // The marks are stored first: from these, a scan after a crash finds the photos again.
        let (gained, recipients) = try marks.commit(moved + found.map(\.file), lost: lost)
        for (user, count) in gained { changes.gainedLikes[user, default: 0] += count }
        changes.changed.formUnion(recipients)
        try transaction { index throws(StorageError) in
            for (id, moved) in movedMarks { try index.setStamp(moved.stamp, of: id) }
            try store(found, lost: lost, index)
        }
        doubtful = [:]
        movedMarks = [:]
    }

    /// Returns the rows of missing files that were not found elsewhere.
    private func goneRows(where isIncluded: (Int64) -> Bool) throws -> Set<Int64> {
        try index { index in
            let gone = try missing.filter { try isIncluded($0.id) && isMissing($0, index) }
            return Set(gone.map(\.id))
        }
    }

    // MARK: Decision

    /// Finds the places of marked photos.
    ///
    /// - Parameter files: The marked photos.
    /// - Returns: The photos that were found, with their new places, and the photos whose content is nowhere.
    /// - Throws: `StorageError`, `CancellationError`.
    private func findMarked(
        _ files: [PhotoFile]
    ) throws -> (found: [(file: PhotoFile, place: Place)], lost: [PhotoFile]) {
        var found: [(file: PhotoFile, place: Place)] = []
        var lost: [PhotoFile] = []
        func take(_ place: Place, for file: PhotoFile) {
            place.isTaken = true
            var file = file
            file.path = place.path
            file.stamp = place.stamp
            if let content = place.content { file.content = content }
            found.append((file, place))
        }
        var own: [Int64: Place] = [:]
        for place in doubtful.values { if let id = place.known?.id { own[id] = place } }
        // A photo that was at a path at the last scan has precedence over missing ones that were there before.
        let present = files.filter { own[$0.id] != nil }
        let missing = files.filter { own[$0.id] == nil }
        for file in missing { own[file.id] = doubtful[file.path] }
        // The first step finds unchanged files.
        var open: [PhotoFile] = []
        for file in present + missing {
            // Two photos may have been at one path, one after the other.
            guard let place = own[file.id], !place.isTaken, place.format != nil else {
                open.append(file)
                continue
            }
            if place.stamp.content == file.stamp.content
                || file.content == nil && isRestored(place, file)
            {
                take(place, for: file)
            } else if let known = file.content, file.stamp.sizeBytes == place.stamp.sizeBytes {
                switch try content(of: place)?.hasContent(of: known) {
                case true?: take(place, for: file)
                case false?: open.append(file)
                case nil: postpone(place)
                }
            } else {
                open.append(file)
            }
        }
        // The second step finds the content at another place.
        let gone = try open.isEmpty ? [] : goneRows { !marks.contains($0) }
        var sizes: [Int64: [Place]] = [:]
        var rest: [PhotoFile] = []
        for file in open {
            let size = file.stamp.sizeBytes
            let candidates = try sizes[size] ?? places(ofSize: size, besides: gone)
            sizes[size] = candidates
            guard let match = try match(file, candidates) else {
                rest.append(file)
                continue
            }
            if let place = own[file.id], !place.isTaken, match.path.isBackup(of: file.path),
                let edited = try content(of: place), !file.isOtherPhoto(edited)
            {
                take(place, for: file)
            } else {
                take(match, for: file)
            }
        }
        // Edits are last, because unchanged content has precedence.
        for file in rest {
            guard let place = own[file.id], !place.isTaken, place.format != nil, !place.isMoved
            else {
                lost.append(file)
                continue
            }
            guard let content = try content(of: place) else {
                postpone(place)
                continue
            }
            // The name of a missing photo was free, and the events of a link do not concern its target.
            let isWatched = place.known?.id == file.id && place.candidate?.mayBeLink == false
            let wasFree = isWatched ? watcher.wasFree(place.path, events) : nil
            if file.isEdited(as: content, wasFree: wasFree) {
                take(place, for: file)
            } else {
                lost.append(file)
            }
        }
        return (found, lost)
    }

    /// Returns true if the path, size and date of a file are those of a photo whose content was not read.
    private func isRestored(_ place: Place, _ file: PhotoFile) -> Bool {
        place.path == file.path && place.stamp.sizeBytes == file.stamp.sizeBytes
            && place.stamp.modified == file.stamp.modified
            && place.candidate?.mayBeLink == false
            && watcher.wasFree(place.path, events) != true
    }

    /// Leaves the row of a file that cannot be read as it is, so that each scan reads the file again.
    private func postpone(_ place: Place) {
        place.isTaken = true
        unavailable.insert(place.path)
    }

    /// Returns the place with the content of a marked photo, preferably with the same name.
    private func match(_ file: PhotoFile, _ places: [Place]) throws -> Place? {
        guard let known = file.content else {
            return places.first { !$0.isTaken && $0.stamp.content == file.stamp.content }
        }
        let name = file.path.split?.name
        let same = places.filter { $0.path.split?.name == name }
        let others = places.filter { $0.path.split?.name != name }
        for place in same + others where !place.isTaken {
            if try content(of: place)?.hasContent(of: known) == true { return place }
        }
        return nil
    }

    /// Returns the places of photos of a size that belong to no other marked photo.
    private func places(ofSize size: Int64, besides gone: Set<Int64>) throws -> [Place] {
        let known = Set(doubtful.values.compactMap(\.known?.id))
        let stored = try index { try $0.photos(size: size) }.filter { photo in
            !known.contains(photo.id) && !gone.contains(photo.id) && !marks.contains(photo.id)
        }
        return doubtful.values.filter { $0.stamp.sizeBytes == size && $0.format != nil }
            + stored.map { Place($0) }
    }

    private func content(of place: Place) throws -> FileDigest? {
        guard !place.isRead else { return place.content }
        guard !isStopped() else { throw CancellationError() }
        place.isRead = true
        let content = files.digest(absolute(place.path), marks.digests)
        // A file that has changed since it was looked up is found by the next scan. The file of a row may have changed
        // under another of its names, which no event reports.
        guard let content, content.stamp.content == place.stamp.content || place.row != nil else {
            return nil
        }
        place.stamp = content.stamp
        place.content = content
        if let row = place.row {
            // A photo of the same content is looked for again later, so it is not read again.
            try index { try $0.setContent(content, of: row) }
        }
        return content
    }

    // MARK: Storing

    /// Stores the rows of marked photos, and then those of the other doubtful files.
    private func store(
        _ found: [(file: PhotoFile, place: Place)], lost: [PhotoFile], _ index: PictureIndex
    ) throws(StorageError) {
        for (file, place) in found { try move(file, to: place, index) }
        for file in lost {
            guard let row = try index.file(file.id) else { continue }
            if row.format != nil {
                changes.remove(file.id, from: try index.folderPath(row.folder))
            }
            try index.delete(file.id)
        }
        for place in doubtful.values where !place.isTaken {
            guard let candidate = place.candidate else { continue }
            // The marked photo of the row may have left it.
            let known = try index.file(folder: candidate.folder, name: candidate.name)
            try store(candidate, place.format, known, index)
        }
    }

    /// Gives the file at a place the row of a marked photo.
    private func move(
        _ file: PhotoFile, to place: Place, _ index: PictureIndex
    ) throws(StorageError) {
        guard let (folder, name) = place.path.split, let folderID = try index.folderID(folder)
        else { return }
        let present = try index.file(folder: folderID, name: name)
        let format = place.format ?? present?.format
        let former = try index.file(file.id)
        if let present, present.id != file.id {
            if marks.contains(present.id) {
                // Another marked photo, which has left the place as well.
                try index.displace(present)
            } else {
                try index.delete(present.id)
                if present.format != nil { changes.remove(present.id, from: folder) }
            }
        }
        guard let former else {
            try index.insert(file.id, folder: folderID, name: name, place.stamp, format)
            return changes.add(file.id, in: folder)
        }
        try index.rename(former.id, folder: folderID, name: name)
        let position = try index.update(former, place.stamp, format)
        changes.changed.insert(file.id)
        if former.folder != folderID {
            changes.move(from: try index.folderPath(former.folder), to: folder)
        } else if position > former.position {
            changes.raise(in: folder)
        }
    }
}
