internal import Glibc
internal import ImageMetadata
internal import ProviderKit
internal import Storage
internal import System

/// The comparison of files with the index.
extension FolderScan {
    /// Returns true if a file whose close was not observed is complete: it was not written to for some time, has other
    /// names, or had another name in the index.
    func isComplete(_ path: RelativePath, _ status: FileStatus) throws -> Bool {
        if isUnmodified(path, status.stamp) { return true }
        guard try status.hardLinks > 1 || index({ try !$0.files(stamp: status.stamp).isEmpty })
        else { return false }
        watcher.markClosed(path)
        return true
    }

    /// Returns true if a file was not written to for some time. Not every close is observed, for example if the name of
    /// a file is created after the close.
    func isUnmodified(_ path: RelativePath, _ stamp: FileStamp) -> Bool {
        guard stamp.age >= FolderWatcher.closedAfterSeconds else { return false }
        watcher.markClosed(path)
        return true
    }

    /// Reads the collected files, the newest first, and updates the index.
    func flush() throws {
        let former = try formerFiles(of: candidates)
        // A file that is new at the former path of another one would replace the stamp by which that one is recognized.
        candidates.sort { first, second in
            let isMoved = former.stamps.contains(first.stamp.content)
            guard isMoved == former.stamps.contains(second.stamp.content) else { return isMoved }
            return first.stamp.modified > second.stamp.modified
        }
        var rest = candidates[...]
        candidates = []
        var count = Self.filesInTransaction.lowerBound
        if rest.count > count, !isLarge {
            isLarge = true
            // Each row and its entries in the indexes are in other pages.
            store.setCache(kibibytes: 16 << 10)
        }
        while !rest.isEmpty {
            guard !isStopped() else { throw CancellationError() }
            let start = ContinuousClock.now
            let batch = rest.prefix(count)
            rest = rest.dropFirst(count)
            let contents = files.contents(batch.map { absolute($0.path) })
            try transaction { index throws(StorageError) in
                for (candidate, content) in zip(batch, contents) {
                    try store(candidate, content, index, former)
                }
            }
            let isShort = ContinuousClock.now - start < Self.publishingInterval
            count =
                isShort
                ? min(2 * count, Self.filesInTransaction.upperBound)
                : max(count / 2, Self.filesInTransaction.lowerBound)
            if ContinuousClock.now - lastPublish > Self.publishingInterval { publishChanges() }
        }
        lastFlush = ContinuousClock.now
    }

    private func store(
        _ candidate: Candidate, _ content: FileContent, _ index: PictureIndex,
        _ former: FormerFiles
    ) throws(StorageError) {
        var candidate = candidate
        let (folder, path, stamp) = (candidate.folderID, candidate.path, candidate.stamp)
        let name = candidate.name
        // The known file may have been moved meanwhile, or this file may have been collected with its folder as well.
        let known = try index.file(folder: folder, name: name)
        guard known?.stamp != stamp || candidate.isReported else { return }
        // A file that was moved over another keeps its row; a file that was overwritten keeps the row of the former
        // one. Some file systems give other inode numbers at each mount, also those of other files.
        let isUnchanged = known.map { stamp.isUnchanged(since: $0.stamp) } == true
        // True if the name was free since the last scan; nil if that is unknown.
        lazy var wasFree = candidate.mayBeLink ? nil : watcher.wasFree(path, events)
        let isSame = known?.stamp.inode == stamp.inode || isUnchanged && wasFree != true
        var moved = isSame ? nil : try formerRow(stamp, index, former)
        if let file = moved, !former.areExchanged(file, known) {
            // A known photo that replaces a marked one is an edit of it.
            let isEdit = known.map { marks.contains($0.id) } == true && wasFree == false
            if isEdit || isReplaced(file, former) { moved = nil }
        }
        switch content {
        case .image(let image): candidate.format = image
        case .other: break
        case .unreadable:
            // The row is not changed, so that each scan reads the file again. A moved photo is recognized without
            // reading it.
            unavailable.insert(path)
            guard moved != nil else { return }
        }
        let format = candidate.format
        if let moved {
            if let displaced = try index.move(moved, folder: folder, name: name) {
                missing.append(displaced)
            }
            try index.setStamp(stamp, of: moved.id)
            if marks.contains(moved.id) { movedMarks[moved.id] = (path, stamp, nil) }
            guard moved.format != nil else { return }
            changes.changed.insert(moved.id)
            guard moved.folderID != folder else { return }
            changes.move(from: moved.folder, to: candidate.folder)
        } else if let known, known.format == format, stamp.content == known.stamp.content,
            format == nil || candidate.event?.hasOnlyAttributes == true
        {
            try index.setStamp(stamp, of: known.id)
        } else if let known, isUnchanged, known.format == format, !candidate.mayBeLink,
            !candidate.isReported, wasFree != true
        {
            // The file has another inode number, or a program has restored it.
            try index.setStamp(stamp, of: known.id)
            if marks.contains(known.id) { movedMarks[known.id] = (path, stamp, nil) }
        } else if let known, marks.contains(known.id) {
            // A link may lead to another photo, but the target may be written in place.
            let mayBeEdit =
                candidate.mayBeLink ? stamp.inode == known.stamp.inode : wasFree != true
            if mayBeEdit, format == nil, !isUnmodified(path, stamp) {
                // The file is being written.
                unavailable.insert(path)
            } else if wasFree == false, format != nil {
                movedMarks[known.id] = (path, stamp, candidate)
            } else {
                doubts[path] = (known.id, candidate, mayBeEdit)
            }
        } else {
            if known != nil, !marks.isEmpty { storedPaths.insert(path) }
            try store(candidate, known, index)
        }
    }

    /// Returns true if another file is at the path of a marked photo that has moved, and this file is the photo.
    private func isReplaced(_ file: PictureIndex.File, _ former: FormerFiles) -> Bool {
        guard marks.contains(file.id), former.stamp(at: file.path) != nil else { return false }
        return former.equal.contains(file.path) || watcher.wasFree(file.path, events) == false
    }

    /// Stores a new file, or the new state of a known one.
    func store(
        _ candidate: Candidate, _ known: PictureIndex.File?, _ index: PictureIndex
    ) throws(StorageError) {
        let (folder, stamp, format) = (candidate.folder, candidate.stamp, candidate.format)
        guard let known else {
            let id = try index.freeRow(
                of: candidate.path, isReserved: marks.contains)
            try index.insert(id, folder: candidate.folderID, name: candidate.name, stamp, format)
            if format != nil {
                changes.add(id, in: folder)
                if !marks.isEmpty { try index.recordUncompared(id) }
            }
            return
        }
        let position = try index.update(known, stamp, format)
        switch (known.format, format) {
        case (nil, nil): return
        case (nil, _):
            changes.add(known.id, in: folder)
            if !marks.isEmpty { try index.recordUncompared(known.id) }
        case (_, nil): changes.remove(known.id, from: nil)
        default:
            changes.changed.insert(known.id)
            if !marks.isEmpty, known.stamp.content != stamp.content {
                try index.recordUncompared(known.id)
            }
            changes.reposition(in: folder, from: known.position, to: position)
        }
    }

    /// The files in the index that may be the same files as candidates.
    private struct FormerFiles {
        var stamps: Set<FileStamp> = []
        /// The stamps at paths of the index, if they are known; nil for paths that lead nowhere.
        var present: [RelativePath: FileStamp?] = [:]
        /// The paths of marked photos at which new files have equal image data.
        var equal: Set<RelativePath> = []

        /// Returns the stamp of the file at a path; nil if there is none, or if it is unknown.
        func stamp(at path: RelativePath) -> FileStamp? { present[path] ?? nil }

        /// Returns true if a moved file and the one that was at its new path have changed places.
        func areExchanged(_ moved: PictureIndex.File, _ known: PictureIndex.File?) -> Bool {
            known != nil && stamp(at: moved.path)?.content == known?.stamp.content
        }
    }

    private func formerFiles(of candidates: [Candidate]) throws -> FormerFiles {
        var former = FormerFiles()
        var marked: [Int64: RelativePath] = [:]
        let paths = try index { index in
            // Outside of a transaction, each query locks the file.
            try index.database.snapshot { () throws -> Set<RelativePath> in
                var paths: Set<RelativePath> = []
                for candidate in candidates {
                    for file in try index.files(stamp: candidate.stamp) {
                        former.stamps.insert(candidate.stamp.content)
                        paths.insert(file.path)
                        if marks.contains(file.id) { marked[file.id] = file.path }
                    }
                }
                return paths
            }
        }
        let list = Array(paths)
        for (path, lookup) in zip(list, try lookUp(list.map(absolute))) {
            switch lookup {
            case .found(let status): former.present[path] = status.stamp
            case .absent: former.present.updateValue(nil, forKey: path)
            case .unavailable: continue
            }
        }
        for candidate in candidates { former.present[candidate.path] = candidate.stamp }
        guard !marked.isEmpty else { return former }
        let new = Dictionary(candidates.map { ($0.path, $0) }) { $1 }.filter {
            !former.stamps.contains($1.stamp.content)
        }
        marked = marked.filter { new[$1] != nil }
        for file in try marks.storedFiles(marked.keys) {
            if let path = marked[file.id], let place = new[path], try isSame(place, file) {
                former.equal.insert(path)
            }
        }
        return former
    }

    /// Returns the row of a moved file: the same file, which is proven to be gone from the path in the row. An unchanged
    /// file there has only another inode number.
    private func formerRow(
        _ stamp: FileStamp, _ index: PictureIndex, _ former: FormerFiles
    ) throws(StorageError) -> PictureIndex.File? {
        guard former.stamps.contains(stamp.content) else { return nil }
        for file in try index.files(stamp: stamp) {
            // A displaced file has a name that no file can have.
            if file.name.first == UInt8(ascii: "/") { return file }
            if let present = former.present[file.path], present?.inode != stamp.inode,
                present?.isUnchanged(since: file.stamp) != true
            {
                return file
            }
        }
        return nil
    }
}
