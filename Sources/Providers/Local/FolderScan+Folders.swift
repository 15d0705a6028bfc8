internal import Storage
internal import System

/// The scan of folders.
extension FolderScan {
    /// Scans folders and all folders below them: real folders first, then the targets of links.
    func scanTree(_ tops: [RelativePath]) throws {
        var folders = tops
        var links: [RelativePath] = []
        while let path = folders.popLast() ?? links.popLast() {
            try scanFolder(path, &folders, &links)
            if ContinuousClock.now - lastFlush > Self.collectingTime { try flush() }
        }
        for top in tops {
            let known = try index { try $0.folders(at: top) }
            for (_, path) in known
            where !visitedPaths.contains(path) && !unchangedFolders.contains(path)
                && !path.isOrIsBelow(where: unavailable.contains)
            {
                try removeFolder(path)
            }
        }
    }

    private func scanFolder(
        _ path: RelativePath, _ folders: inout [RelativePath], _ links: inout [RelativePath]
    ) throws {
        guard !isStopped() else { throw CancellationError() }
        guard !visitedPaths.contains(path), !unavailable.contains(path), !filter.hidesFolder(path)
        else { return }
        guard path.depth < Self.maximumDepth else {
            deepFolders.insert(path)
            return
        }
        let absolutePath = absolute(path)
        let lookup = try lookUp([absolutePath])[0]
        if case .unavailable = lookup { unavailable.insert(path) }
        guard let status = lookup.status, status.kind == .directory else { return }
        guard try isUnvisited(path, status), visited.insert(status.identity).inserted else {
            aliases.insert(path)
            return
        }
        // The watch is added before the folder is read, so that no change is missed.
        let listing: DirectoryListing
        do {
            listing = try files.list(absolutePath) { [watcher] in
                watcher.watch(path, at: absolutePath)
            }.get()
        } catch {
            if !FileStatus.provesAbsence(error.code) { unavailable.insert(path) }
            return
        }
        if listing.entries.isEmpty, try isLostMountPoint(absolutePath) {
            unavailable.insert(path)
            return
        }
        guard !listing.entries.contains(where: { PhotoFilter.isMarker($0.name) }) else {
            hidden.insert(path)
            return
        }
        visitedPaths.insert(path)
        var (id, known) = try index { index in
            let id = try index.addFolder(path, status)
            var known: [[UInt8]: PictureIndex.File] = [:]
            try index.files(folder: id, path) { file throws(StorageError) in
                known[file.name] = file
            }
            return (id, known)
        }
        folders += listing.names(.directory).map(path.appending)
            .filter { !unchangedFolders.contains($0) }
        // On a slow disk the first photos of a large folder are shown before the last ones are read.
        lazy var all = Set(listing.names(.file, .link, .unknown).map(path.appending))
        func isShown(_ name: [UInt8]) throws -> Bool {
            let file = path.appending(name)
            return try !filter.hidesFile(file) && !isHiddenRaw(file, among: all)
        }
        var names = try listing.names(.file).filter(isShown)[...]
        while !names.isEmpty {
            guard !isStopped() else { throw CancellationError() }
            try compare(names.prefix(Self.filesAtOnce), in: path, id, &known, &links)
            names = names.dropFirst(Self.filesAtOnce)
            if ContinuousClock.now - lastFlush > Self.collectingTime { try flush() }
        }
        // Links, and entries whose kind the file system does not report.
        let others = try listing.names(.link, .unknown).filter {
            try $0.first != UInt8(ascii: ".") && !unchangedFolders.contains(path.appending($0))
                && !isHiddenRaw(path.appending($0), among: all)
        }
        for name in others { followLink(path.appending(name)) }
        try compare(others[...], areLinks: true, in: path, id, &known, &links)
        missing += known.values
    }

    /// Compares files, or links and entries whose kind the file system does not report.
    private func compare(
        _ names: ArraySlice<[UInt8]>, areLinks: Bool = false, in folder: RelativePath, _ id: Int64,
        _ known: inout [[UInt8]: PictureIndex.File], _ links: inout [RelativePath]
    ) throws {
        let paths = names.map(folder.appending)
        var isRecent = false
        for ((name, path), lookup) in zip(zip(names, paths), try lookUp(paths.map(absolute))) {
            if areLinks { watcher.markClosed(path) }
            switch lookup {
            case .found(let status) where areLinks && status.kind == .directory: links.append(path)
            case .found(let status)
            where status.kind == .file && !(areLinks && filter.hidesFile(path)):
                let file = known.removeValue(forKey: name)
                isRecent = isRecent || status.stamp.isRecent
                if try !areLinks && watcher.isUnclosed(path) && !isComplete(path, status) {
                    unclosed.insert(path)
                } else if file?.stamp != status.stamp {
                    // The target of a link may have changed, so the file may be another one.
                    candidates.append(
                        Candidate(
                            folderID: id, path: path, stamp: status.stamp, mayBeLink: areLinks))
                }
            case .found, .absent: continue
            case .unavailable:
                // The rows in the index stay unchanged.
                known[name] = nil
                unavailable.insert(path)
            }
        }
        if isRecent { try index { try $0.forgetTime(ofFolder: id) } }
    }

    /// Returns false if the index contains the folder under another path, for example the target of a link, which is not
    /// removed.
    private func isUnvisited(_ path: RelativePath, _ status: FileStatus) throws -> Bool {
        let paths = try index { try $0.folders(status.identity) }
            .filter { $0 != path && !removedFolders.values.contains($0) }
        return files.lookUp(paths.map(absolute)).allSatisfy { lookup in
            switch lookup {
            case .found(let other): other.stamp.inode != status.stamp.inode
            case .absent: true
            case .unavailable: false
            }
        }
    }

    /// Removes a folder and all folders below it from the index, except those whose file system is not mounted.
    func removeFolder(_ path: RelativePath) throws {
        for (id, below) in try index({ try $0.folders(at: path) }) {
            guard try !isBelowLostMountPoint(absolute(below)) else {
                unavailable.insert(below)
                continue
            }
            missing += try index { try $0.files("folder = ?", [.integer(id)]) }
            removedFolders[id] = below
            if !hidden.contains(below) { watcher.unwatch(below) }
        }
    }

    // MARK: File systems that are not mounted

    /// Returns the mount points of the last scan at which no file system is mounted now.
    func lostMounts() throws -> Set<[UInt8]> {
        if let lostMountPoints { return lostMountPoints }
        let known = try index { try $0.mountPoints }
        let lost = known.isEmpty ? [] : known.subtracting(files.mountPoints)
        lostMountPoints = lost
        return lost
    }

    /// Returns true if an empty folder was the mount point of a file system that is not mounted now. An empty mount
    /// point does not prove that the photos are deleted.
    func isLostMountPoint(_ path: [UInt8]) throws -> Bool {
        let lost = try lostMounts()
        return !lost.isEmpty && lost.contains(files.realPath(path) ?? path)
    }

    /// Returns true if a path does not exist because its file system is not mounted. The folder of the mount point may be
    /// deleted, as udisks does it when a disk is removed.
    func isBelowLostMountPoint(_ path: [UInt8]) throws -> Bool {
        let lost = try lostMounts()
        guard !lost.isEmpty else { return false }
        let path = files.realPath(path) ?? path
        for mountPoint in lost where path == mountPoint || RelativePath.isBelow(path, mountPoint) {
            let listing = try? files.list(mountPoint, watch: {}).get()
            if listing?.entries.isEmpty != false { return true }
        }
        return false
    }
}
