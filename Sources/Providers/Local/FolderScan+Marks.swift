internal import ImageMetadata
internal import ProviderKit
internal import Storage

/// The decision which files marked photos are in; see ``PhotoFile``.
extension FolderScan {
    /// A changed file at the path of a marked photo, which may be another photo.
    struct Doubt {
        /// The marked photo.
        let id: Int64
        let candidate: Candidate
        let format: ImageFormat?
        /// True if the file may be an edit of the photo.
        let mayBeEdit: Bool

        var place: Place {
            Place(candidate.filePath, candidate.folder, candidate.stamp, format)
        }
    }

    /// A file that may be a marked photo.
    struct Place {
        let path: RelativePath
        let folder: Int64
        let stamp: FileStamp
        let format: ImageFormat?

        init(
            _ path: RelativePath, _ folder: Int64, _ stamp: FileStamp, _ format: ImageFormat?
        ) {
            (self.path, self.folder, self.stamp, self.format) = (path, folder, stamp, format)
        }

        init(_ picture: PictureIndex.Picture) {
            let row = picture.file
            self.init(picture.path, row.folder, row.stamp, row.format)
        }
    }

    /// A marked photo whose file is not decided.
    private struct OpenPhoto {
        var file: PhotoFile
        /// True if the photo was not in the index before the scan.
        let isMissing: Bool
        /// The file at the path of the photo.
        var own: Place?
        /// True if that file may be an edit of the photo.
        var mayBeEdit = false
    }

    /// Finds the files of the marked photos that have moved or changed, or that are missing: first those that are at
    /// their path, then those whose image data is elsewhere, then those that were edited.
    ///
    /// - Throws: `StorageError`, `CancellationError`.
    func identifyMarked() throws {
        let (gone, hidden) = try goneMarked()
        var open = try openPhotos(gone)
        guard !open.isEmpty || !hidden.isEmpty || !movedMarks.isEmpty else { return }
        var files: [PhotoFile] = []
        for var file in try marks.storedFiles(movedMarks.keys) {
            guard let (path, stamp, isEdited) = movedMarks[file.id] else { continue }
            (file.path, file.stamp) = (path, stamp)
            if isEdited, let digest = try read(path)?.digest { file.digest = digest }
            files.append(file)
        }
        var found: [(file: PhotoFile, place: Place)] = []
        var taken: Set<RelativePath> = []
        func take(_ place: Place, _ photo: OpenPhoto) {
            var file = photo.file
            (file.path, file.stamp) = (place.path, place.stamp)
            taken.insert(place.path)
            found.append((file, place))
        }
        open = try open.filter { photo in
            guard let own = photo.own, own.format != nil, !taken.contains(own.path) else {
                return true
            }
            let isKnown = photo.isMissing && own.stamp.content == photo.file.stamp.content
            guard try isKnown || isSame(own, photo.file) else { return true }
            take(own, photo)
            return false
        }
        let doubted = open.isEmpty ? [:] : try byCount(doubts.values.map(\.place))
        var new: [Int64: [Place]]?
        var unread: [Place] = []
        open = try open.filter { photo in
            var places = doubted[photo.file.digest.count] ?? []
            // A file that was written in place is not compared with earlier copies of the photo.
            if photo.own?.stamp.inode != photo.file.stamp.inode || photo.isMissing {
                places += try self.places(
                    ofSize: photo.file.stamp.sizeBytes,
                    areNew: photo.isMissing && !isRebuilding)
            }
            if !photo.isMissing {
                if new == nil { new = try byCount(newPlaces()) }
                places += new?[photo.file.digest.count] ?? []
            }
            let name = photo.file.path.split?.name
            for isSameName in [true, false] {
                for place in places
                where (place.path.split?.name == name) == isSameName && place.format != nil
                    && !taken.contains(place.path)
                {
                    guard try isSame(place, photo.file) else {
                        if readings[place.path] == nil { unread.append(place) }
                        continue
                    }
                    take(place, photo)
                    return false
                }
            }
            return true
        }
        var lost: [PhotoFile] = []
        let digests = Set(found.map(\.file.digest))
        for var photo in open {
            // A missing photo may be an earlier copy of a found one.
            guard photo.mayBeEdit, let own = photo.own, own.format != nil,
                !taken.contains(own.path),
                !photo.isMissing || !digests.contains(photo.file.digest)
            else {
                lost.append(photo.file)
                continue
            }
            if let digest = try read(own.path)?.digest {
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
            for place in lost.isEmpty ? [] : unread {
                guard let (_, name) = place.path.split,
                    let row = try index.file(folder: place.folder, name: name)
                else { continue }
                let (size, modified) = (row.stamp.sizeBytes, row.stamp.modified)
                try index.setStamp(
                    FileStamp(inode: 0, sizeBytes: size, modified: modified), of: row.id)
            }
            let moving = Set(found.map(\.file.id))
            for (file, place) in found { try move(file.id, to: place, besides: moving, index) }
            for (path, doubt) in doubts where !taken.contains(path) && !unavailable.contains(path) {
                let known = try index.file(
                    folder: doubt.candidate.folder, name: doubt.candidate.name)
                try store(doubt.candidate, doubt.format, known, index)
            }
        }
        (doubts, movedMarks, wanted, newPhotos) = ([:], [:], [], [])
    }

    /// Returns the photos to be decided. Photos that were in the index have precedence over missing ones.
    private func openPhotos(_ gone: Set<Int64>) throws -> [OpenPhoto] {
        let doubts = Dictionary(doubts.values.map { ($0.id, $0) }) { $1 }
        let known = gone.union(doubts.keys).subtracting(movedMarks.keys)
        let changed = try marks.storedFiles(known).compactMap { file -> OpenPhoto? in
            guard let doubt = doubts[file.id] else {
                return OpenPhoto(file: file, isMissing: false)
            }
            let own = doubt.place
            if own.format != nil, try read(own.path, expecting: file.digest.count) == nil {
                unavailable.insert(own.path)
                return nil
            }
            return OpenPhoto(file: file, isMissing: false, own: own, mayBeEdit: doubt.mayBeEdit)
        }
        // An interrupted scan may have added the files of missing photos to a lost index.
        let missing = (isRebuilding ? marks.missing : wanted)
            .subtracting(known).subtracting(movedMarks.keys)
        return try changed
            + marks.storedFiles(missing).compactMap { file in
                // The photo is shown again when the file that hides it is removed.
                if try isRebuilding && isHidden(file.path) && !existing([file.path]).isEmpty {
                    return nil
                }
                let own = try place(at: file.path)
                // The files of a lost index may have been edited.
                let isEdit = isRebuilding && own?.stamp.inode == file.stamp.inode
                return OpenPhoto(file: file, isMissing: true, own: own, mayBeEdit: isEdit)
            }
    }

    /// Returns the marked photos whose files are absent, and those whose files are not shown any more.
    private func goneMarked() throws -> (gone: Set<Int64>, hidden: Set<Int64>) {
        let absent = try index { index in
            try missing.compactMap { file -> (id: Int64, path: RelativePath)? in
                guard marks.contains(file.id), try isMissing(file, index),
                    let folder = try index.folderPath(file.folder)
                else { return nil }
                return (file.id, folder.appending(file.name))
            }
        }
        let hidden = Set(try absent.filter { try isHidden($0.path) }.map(\.id))
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

    // MARK: Search

    /// Returns true if a file can be read and has the image data of a photo.
    private func isSame(_ place: Place, _ file: PhotoFile) throws -> Bool {
        try read(place.path, expecting: file.digest.count)?.digest == file.digest
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

    /// Returns the photo at a path that belongs to no marked photo.
    private func place(at path: RelativePath) throws -> Place? {
        guard let (folder, name) = path.split,
            let row = try index({ try $0.file(in: folder, name: name)?.file }),
            !marks.contains(row.id)
        else { return nil }
        return Place(path, row.folder, row.stamp, row.format)
    }

    /// Returns the photos of a size that belong to no marked photo; only the new ones for `areNew`.
    private func places(ofSize size: Int64, areNew: Bool) throws -> [Place] {
        try index { try $0.photos(size: size) }.filter {
            !marks.contains($0.file.id) && (!areNew || newPhotos.contains($0.file.id))
        }.map(Place.init)
    }

    /// Returns the new photos that belong to no marked photo.
    private func newPlaces() throws -> [Place] {
        try index { index in
            try newPhotos.sorted().filter { !marks.contains($0) }.compactMap {
                try index.picture($0)
            }
        }.map(Place.init)
    }

    /// Returns files by the number of bytes of their image data.
    private func byCount(_ places: [Place]) throws -> [Int64: [Place]] {
        var byCount: [Int64: [Place]] = [:]
        // No file has the expected number of bytes, so only the headers are read.
        let results = files.digests(
            places.map { absolute($0.path) }, marks.digests, expecting: -1)
        for (place, result) in zip(places, results) {
            if let result { byCount[result.count, default: []].append(place) }
        }
        return byCount
    }

    // MARK: Storing

    private func remove(_ id: Int64, _ index: PictureIndex) throws(StorageError) {
        guard let row = try index.file(id) else { return }
        if row.format != nil { changes.remove(id, from: try index.folderPath(row.folder)) }
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
        _ id: Int64, to place: Place, besides others: Set<Int64>, _ index: PictureIndex
    ) throws(StorageError) {
        guard let (folder, name) = place.path.split else { return }
        if let row = try index.file(folder: place.folder, name: name), row.id != id {
            if others.contains(row.id) {
                try index.displace(row)
            } else {
                try remove(row.id, index)
            }
        }
        guard let former = try index.file(id) else {
            try index.insert(id, folder: place.folder, name: name, place.stamp, place.format)
            return changes.add(id, in: folder)
        }
        try index.rename(id, folder: place.folder, name: name)
        let position = try index.update(former, place.stamp, place.format)
        changes.changed.insert(id)
        if former.folder != place.folder {
            changes.move(from: try index.folderPath(former.folder), to: folder)
        } else if position > former.position {
            changes.raise(in: folder)
        }
    }
}
