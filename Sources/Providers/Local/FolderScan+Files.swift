internal import Glibc
internal import ProviderKit
internal import Storage

/// The comparison of files with the index.
extension FolderScan {
    /// Returns true if a file was not written to for some time. Not every close is observed, for example if the name of
    /// a file is created after the close.
    func isUnmodified(
        _ folder: RelativePath, _ name: [UInt8], _ stamp: FileStamp
    ) -> Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let age = Int64(now.tv_sec) - stamp.modified / 1_000_000_000
        guard abs(age) >= FolderWatcher.closedAfterSeconds else { return false }
        watcher.markClosed(folder, name)
        return true
    }

    func addCandidate(
        _ name: [UInt8], _ stamp: FileStamp, _ known: PictureIndex.File?, _ folder: RelativePath,
        _ id: Int64, mayBeLink: Bool = false
    ) {
        guard known?.stamp != stamp else { return }
        candidates.append(
            Candidate(
                folder: id, path: folder, name: name, stamp: stamp, mayBeLink: mayBeLink))
    }

    /// Returns true if a file has replaced another one while its name was never free, as editors do it.
    func isReplacement(_ candidate: Candidate) -> Bool {
        !candidate.mayBeLink
            && watcher.isReplacement(candidate.path.appending(candidate.name))
    }

    /// Reads the collected files, the newest first, and updates the index.
    func flush() throws {
        candidates.sort { $0.stamp.modified > $1.stamp.modified }
        var rest = candidates[...]
        candidates = []
        while !rest.isEmpty {
            guard !isStopped() else { throw CancellationError() }
            let batch = rest.prefix(Self.filesInTransaction)
            rest = rest.dropFirst(Self.filesInTransaction)
            let contents = files.contents(batch.map { absolute($0.path.appending($0.name)) })
            let former = try formerPaths(of: batch)
            try database.runAndWait { database in
                let index = PictureIndex(database)
                try database.transaction { () throws(StorageError) in
                    for (candidate, content) in zip(batch, contents) {
                        try store(candidate, content, index, former)
                    }
                }
            }
            if ContinuousClock.now - lastPublish > Self.publishingInterval { publishChanges() }
        }
        lastFlush = ContinuousClock.now
    }

    private func store(
        _ candidate: Candidate, _ content: FileContent, _ index: PictureIndex,
        _ former: FormerPaths
    ) throws(StorageError) {
        let (folder, name, stamp) = (candidate.folder, candidate.name, candidate.stamp)
        // The known file may have been moved meanwhile, or this file may have been collected with its folder as well.
        let known = try index.file(folder: folder, name: name)
        guard known?.stamp != stamp else { return }
        // A file that was moved over another keeps its row; a file that was overwritten keeps the row of the former
        // one.
        let moved = known?.stamp.inode == stamp.inode ? nil : try formerRow(stamp, index, former)
        let format: ImageFormat?
        switch content {
        case .image(let image): format = image
        case .other: format = nil
        case .unreadable:
            // The row is not changed, so that each scan reads the file again. A moved photo is recognized without
            // reading it.
            unavailable.insert(candidate.path.appending(name))
            guard moved != nil else { return }
            format = nil
        }
        if let moved {
            if let displaced = try index.move(moved, folder: folder, name: name) {
                missing.append(displaced)
            }
            guard moved.format != nil else { return }
            changes.changed.insert(moved.id)
            guard moved.folder != folder else { return }
            changes.raised[candidate.path, default: 0] += 1
            if let path = try index.folderPath(moved.folder) { changes.left.insert(path) }
        } else if let known {
            try index.update(known, stamp, format)
            switch (known.format, format) {
            case (nil, nil): return
            case (nil, _): changes.new[candidate.path, default: 0] += 1
            case (_, nil): changes.removed.append(known.id)
            default:
                changes.changed.insert(known.id)
                if isReplacement(candidate) { changes.replaced.insert(known.id) }
                guard stamp.modified > known.position else { return }
                changes.raised[candidate.path, default: 0] += 1
                changes.raisedInAll += 1
            }
        } else {
            let path = candidate.path.appending(name)
            try index.insert(folder: folder, path: path, name: name, stamp, format)
            if format != nil { changes.new[candidate.path, default: 0] += 1 }
        }
    }

    /// The inodes at paths of the index, if they are known; nil for paths that lead nowhere.
    private typealias FormerPaths = [RelativePath: Int64?]

    /// Looks up the paths of the files in the index that may be the same files as candidates.
    private func formerPaths(of candidates: ArraySlice<Candidate>) throws -> FormerPaths {
        var former: FormerPaths = [:]
        let paths = try index { index throws(StorageError) -> Set<RelativePath> in
            var paths: Set<RelativePath> = []
            for candidate in candidates {
                for file in try index.files(stamp: candidate.stamp) {
                    guard let folder = try index.folderPath(file.folder) else { continue }
                    paths.insert(folder.appending(file.name))
                }
            }
            return paths
        }
        let list = Array(paths)
        for (path, lookup) in zip(list, files.lookUp(list.map(absolute))) {
            switch lookup {
            case .found(let status): former[path] = status.stamp.inode
            case .absent: former.updateValue(nil, forKey: path)
            case .unavailable: continue
            }
        }
        for candidate in candidates {
            former[candidate.path.appending(candidate.name)] = candidate.stamp.inode
        }
        return former
    }

    /// Returns the row of a moved file: the same file, which is proven to be gone from the path in the row.
    private func formerRow(
        _ stamp: FileStamp, _ index: PictureIndex, _ former: FormerPaths
    ) throws(StorageError) -> PictureIndex.File? {
        for file in try index.files(stamp: stamp) {
            // A displaced file has a name that no file can have.
            if file.name.first == UInt8(ascii: "/") { return file }
            guard let folder = try index.folderPath(file.folder),
                let inode = former[folder.appending(file.name)], inode != stamp.inode
            else { continue }
            return file
        }
        return nil
    }
}
