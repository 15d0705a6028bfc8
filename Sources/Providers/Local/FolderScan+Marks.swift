internal import ImageMetadata
internal import ProviderKit
internal import Storage

/// The decision which files marked photos are in; see ``PhotoFile``.
extension FolderScan {
    /// A changed file at the path of a marked photo, which may be another photo.
    struct Doubt {
        let candidate: Candidate
        let format: ImageFormat?
        let row: PictureIndex.File
    }

    /// A file that may be a marked photo.
    struct Place {
        let path: RelativePath
        let row: PictureIndex.File
        /// The new state of the file of the row; nil if the row has it.
        var doubt: Doubt?

        var stamp: FileStamp { doubt?.candidate.stamp ?? row.stamp }
    }

    private enum Finding {
        case found(Place)
        case absent
        case unreadable(RelativePath)
    }

    /// Returns true if a changed file at the path of a marked photo is an edit of it, without reading it.
    ///
    /// If no event shows whether the name was free, the same inode shows that the file was written in place.
    func isEdit(_ candidate: Candidate, of stamp: FileStamp) -> Bool {
        let wasFree = candidate.mayBeLink ? nil : watcher.wasFree(candidate.filePath, events)
        return !(wasFree ?? (candidate.stamp.inode != stamp.inode))
    }

    /// Finds the files of the marked photos that have moved or changed, or that are missing.
    ///
    /// - Throws: `StorageError`, `CancellationError`.
    func identifyMarked() throws {
        let (gone, hidden) = try goneMarked()
        let open = gone.union(doubts.keys).union(wanted).subtracting(movedMarks.keys)
        guard !open.isEmpty || !hidden.isEmpty || !movedMarks.isEmpty else { return }
        var files: [PhotoFile] = []
        for var file in try marks.storedFiles(movedMarks.keys) {
            guard let (path, stamp, isEdited) = movedMarks[file.id] else { continue }
            (file.path, file.stamp) = (path, stamp)
            if isEdited, let digest = try read(path)?.digest { file.digest = digest }
            files.append(file)
        }
        var places: [(file: PhotoFile, place: Place)] = []
        var taken: Set<Int64> = []
        var lost: [PhotoFile] = []
        // Photos that were in the index have precedence over missing ones.
        let stored =
            try marks.storedFiles(open.subtracting(wanted))
            + marks.storedFiles(
                wanted.subtracting(movedMarks.keys))
        for var file in stored {
            switch try find(file, isMissing: wanted.contains(file.id), besides: taken) {
            case .found(let place):
                taken.insert(place.row.id)
                (file.path, file.stamp) = (place.path, place.stamp)
                places.append((file, place))
            case .absent: lost.append(file)
            case .unreadable(let path): unavailable.insert(path)
            }
        }
        // The marks are stored first: from these, a scan after a crash finds the photos again.
        let (gained, recipients) = try marks.commit(
            files + places.map(\.file), lost: lost, hidden: hidden)
        for (user, count) in gained { changes.gainedLikes[user, default: 0] += count }
        changes.changed.formUnion(recipients)
        try transaction { index throws(StorageError) in
            for (file, place) in places { try move(file, to: place, index) }
            for file in lost { try remove(file.id, index) }
            for (id, doubt) in doubts
            where !taken.contains(id) && !unavailable.contains(doubt.candidate.filePath) {
                let known = try index.file(
                    folder: doubt.candidate.folder, name: doubt.candidate.name)
                try store(doubt.candidate, doubt.format, known, index)
            }
        }
        (doubts, movedMarks, wanted, newPhotos) = ([:], [:], [], [])
        newPlaces = nil
    }

    /// Returns the marked photos whose files are absent, and those whose files are not shown any more.
    private func goneMarked() throws -> (gone: Set<Int64>, hidden: Set<Int64>) {
        try index { index in
            var (gone, hidden): (Set<Int64>, Set<Int64>) = ([], [])
            for file in missing where marks.contains(file.id) {
                guard try isMissing(file, index), let folder = try index.folderPath(file.folder)
                else { continue }
                let isHidden =
                    filter.hidesFile(folder.appending(file.name))
                    || folder.isOrIsBelow { self.hidden.contains($0) || filter.hidesFolder($0) }
                if isHidden { hidden.insert(file.id) } else { gone.insert(file.id) }
            }
            return (gone, hidden)
        }
    }

    // MARK: Search

    /// Finds the file of a photo.
    ///
    /// - Parameters:
    ///   - file: The photo.
    ///   - isMissing: True if the photo was not in the index before the scan.
    ///   - taken: The rows of files that other photos are in.
    /// - Returns: The file; `unreadable` if the one at the path of the photo cannot be compared.
    /// - Throws: `StorageError`, `CancellationError`.
    private func find(
        _ file: PhotoFile, isMissing: Bool, besides taken: Set<Int64>
    ) throws -> Finding {
        if let doubt = doubts[file.id] {
            let place = Place(path: doubt.candidate.filePath, row: doubt.row, doubt: doubt)
            if doubt.format != nil {
                guard let isSame = try isSame(place, file) else { return .unreadable(place.path) }
                if isSame { return .found(place) }
            }
        } else if isMissing, let place = try place(at: file.path), !taken.contains(place.row.id) {
            // The files of a lost index may have been edited.
            if place.stamp.content == file.stamp.content
                || isRebuilding && place.stamp.inode == file.stamp.inode
            {
                return .found(place)
            }
            if try isSame(place, file) == true { return .found(place) }
        }
        var places = try places(ofSize: file.stamp.sizeBytes)
        if isMissing {
            places.removeAll { !newPhotos.contains($0.row.id) }
        } else {
            places += try placesOfNewPhotos()[file.digest.count] ?? []
        }
        let name = file.path.split?.name
        for isSameName in [true, false] {
            for place in places
            where (place.row.name == name) == isSameName && !taken.contains(place.row.id) {
                if try isSame(place, file) == true { return .found(place) }
            }
        }
        return .absent
    }

    /// Returns true if a file has the image data of a photo; nil if it cannot be read.
    private func isSame(_ place: Place, _ file: PhotoFile) throws -> Bool? {
        try read(place.path, expecting: file.digest.count).map { $0.digest == file.digest }
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
            let row = try index({ try $0.file(in: folder, name: name)?.file }), row.format != nil,
            !marks.contains(row.id)
        else { return nil }
        return Place(path: path, row: row)
    }

    /// Returns the photos of a size that belong to no marked photo.
    private func places(ofSize size: Int64) throws -> [Place] {
        try index { try $0.photos(size: size) }.filter { !marks.contains($0.file.id) }
            .map { Place(path: $0.path, row: $0.file) }
    }

    /// Returns the photos that this scan has added, by the number of bytes of their image data.
    private func placesOfNewPhotos() throws -> [Int64: [Place]] {
        if let newPlaces { return newPlaces }
        var places: [Int64: [Place]] = [:]
        let new = try index { index in
            try newPhotos.sorted().filter { !marks.contains($0) }.compactMap {
                try index.picture($0)
            }
        }
        // No file has this number of bytes, so only the headers are read.
        let results = files.digests(
            new.map { absolute($0.path) }, marks.digests, expecting: -1)
        for (picture, result) in zip(new, results) {
            guard let result else { continue }
            places[result.count, default: []].append(Place(path: picture.path, row: picture.file))
        }
        newPlaces = places
        return places
    }

    // MARK: Storing

    private func remove(_ id: Int64, _ index: PictureIndex) throws(StorageError) {
        guard let row = try index.file(id) else { return }
        if row.format != nil { changes.remove(id, from: try index.folderPath(row.folder)) }
        try index.delete(id)
    }

    /// Gives the file at a place the row of a marked photo.
    private func move(
        _ file: PhotoFile, to place: Place, _ index: PictureIndex
    ) throws(StorageError) {
        let row = place.row
        if let doubt = place.doubt {
            return try store(doubt.candidate, doubt.format, row, index)
        }
        let folder = try index.folderPath(row.folder) ?? .root
        try remove(row.id, index)
        guard let former = try index.file(file.id) else {
            try index.insert(file.id, folder: row.folder, name: row.name, row.stamp, row.format)
            return changes.add(file.id, in: folder)
        }
        try index.rename(former.id, folder: row.folder, name: row.name)
        let position = try index.update(former, row.stamp, row.format)
        changes.changed.insert(file.id)
        if former.folder != row.folder {
            changes.move(from: try index.folderPath(former.folder), to: folder)
        } else if position > former.position {
            changes.raise(in: folder)
        }
    }
}
