internal import Glibc
internal import ProviderKit
internal import Storage

/// Brings the index in line with the pictures folder: all of it, or what has changed.
///
/// Used on the queue of the index, for one scan.
final class FolderScan {
    /// The pictures folder itself cannot be read, with the `errno`.
    struct RootUnreadable: Error { let code: Int32 }

    private let root: [UInt8]
    private let index: PictureIndex
    private let watcher: FolderWatcher
    /// Receives the changes found since it was called last; they are in the index by then.
    private let publish: (IndexChanges) -> Void
    /// Whether nobody wants to know any more.
    private let isStopped: () -> Bool
    private var changes = IndexChanges()
    private var candidates: [Candidate] = []
    /// Rows whose file is not where it was. It may turn up elsewhere before the scan ends.
    private var vanished: [PictureIndex.File] = []
    /// Folders that were seen in this scan, so that links lead nowhere twice.
    private var visited: Set<FolderKey> = []
    /// The paths under which they were seen.
    private var seen: Set<RelativePath> = []
    /// Folders that are not where they were, or not at all.
    private var removedFolders: Set<Int64> = []
    /// Folders that could not be read this time.
    private var unreadable: [RelativePath] = []
    private var lastFlush = ContinuousClock.now
    private var lastPublish = ContinuousClock.now

    /// How long files are collected before the newest of them are read.
    private static let collectingTime = Duration.seconds(1)
    /// How often clients are told during a long scan.
    private static let publishingInterval = Duration.milliseconds(500)
    private static let filesInTransaction = 500
    /// Deeper trees than people make.
    private static let maximumDepth = 64

    private struct FolderKey: Hashable {
        let device: Int64
        let inode: Int64
    }

    /// A file that is not as the index says, or not in it.
    private struct Candidate {
        let folder: Int64
        let path: RelativePath
        let name: [UInt8]
        let stamp: FileStamp
    }

    init(
        root: [UInt8], _ index: PictureIndex, _ watcher: FolderWatcher,
        isStopped: @escaping () -> Bool, publish: @escaping (IndexChanges) -> Void
    ) {
        self.isStopped = isStopped
        self.root = root
        self.index = index
        self.watcher = watcher
        self.publish = publish
        // A link to a folder above the pictures folder leads back to where it is.
        var above = root[...]
        while let slash = above.lastIndex(of: UInt8(ascii: "/")) {
            above = above[..<slash]
            if let status = FileStatus(above.isEmpty ? [UInt8(ascii: "/")] : Array(above)) {
                visited.insert(FolderKey(device: status.device, inode: status.stamp.inode))
            }
        }
        if let status = FileStatus(root) {
            visited.remove(FolderKey(device: status.device, inode: status.stamp.inode))
        }
    }

    /// Compares everything.
    ///
    /// - Throws: ``RootUnreadable``, with the index emptied if the folder is not there; `StorageError`.
    func scanAll() throws {
        try index.deleteDisplaced()
        guard let status = FileStatus(root), status.kind == .folder else {
            try removeFolder(.root)
            try finish()
            throw RootUnreadable(code: ENOENT)
        }
        do {
            _ = try FolderListing(root)
        } catch {
            throw RootUnreadable(code: error.code)
        }
        try scanTree([.root])
        try finish()
    }

    /// Compares what may have changed.
    func scan(_ entries: [FolderWatcher.Entry]) throws {
        guard FileStatus(root)?.kind == .folder else { return try scanAll() }
        var folders: [RelativePath] = []
        var noFolders: [RelativePath] = []
        var noFiles: [(folder: RelativePath, name: [UInt8])] = []
        for entry in entries {
            let path = entry.folder.appending(entry.name)
            let status = FileStatus(absolute(path))
            if status?.kind != .folder { noFolders.append(path) }
            if status?.kind != .file { noFiles.append((entry.folder, entry.name)) }
            guard let status else { continue }
            switch status.kind {
            case .folder: folders.append(path)
            case .file:
                // A new file is looked at when its writer closes it; links are whole at once.
                let isWhole =
                    entry.isSettled || status.hardLinks > 1 || FileStatus.isLink(absolute(path))
                    || isAtRest(entry.folder, entry.name, status.stamp)
                if isWhole, let folder = try index.folderID(entry.folder) {
                    let known = try index.file(folder: folder, name: entry.name)
                    collect(entry.name, status.stamp, known, entry.folder, folder)
                }
            case .other: continue
            }
        }
        try scanTree(folders)
        // What is gone comes last: by then it may have turned up elsewhere.
        try flush()
        for path in noFolders { try removeFolder(path) }
        // A link may lead to a folder that was left out while another path led there.
        if !removedFolders.isEmpty, try index.hasAliases { try scanTree([.root]) }
        for (folder, name) in noFiles {
            if let id = try index.folderID(folder),
                let file = try index.file(folder: id, name: name)
            {
                vanished.append(file)
            }
        }
        try finish()
    }

    // MARK: Walking

    /// Scans folders and what is below them: real folders first, then where links lead.
    private func scanTree(_ tops: [RelativePath]) throws {
        var folders = tops
        var links: [RelativePath] = []
        while let path = folders.popLast() ?? links.popLast() {
            try scanFolder(path, &folders, &links)
            if ContinuousClock.now - lastFlush > Self.collectingTime { try flush() }
        }
        for top in tops {
            for (_, path) in try index.folders(at: top)
            where !seen.contains(path) && !unreadable.contains(where: path.isBelow) {
                try removeFolder(path)
            }
        }
    }

    private func scanFolder(
        _ path: RelativePath, _ folders: inout [RelativePath], _ links: inout [RelativePath]
    ) throws {
        guard !isStopped() else { throw CancellationError() }
        guard path.depth < Self.maximumDepth, let status = FileStatus(absolute(path)),
            status.kind == .folder
        else { return }
        let key = FolderKey(device: status.device, inode: status.stamp.inode)
        guard try isNew(path, status), visited.insert(key).inserted else {
            return try index.noteAlias()
        }
        // Watched first, so that nothing happens between reading and watching.
        watcher.watch(path, at: absolute(path))
        let listing: FolderListing
        do {
            listing = try FolderListing(absolute(path))
        } catch {
            // A disk that fails, or a server that is away, has not lost its photos.
            guard !error.isFinal else { return }
            unreadable.append(path)
            seen.insert(path)
            return
        }
        seen.insert(path)
        let id = try index.addFolder(path, device: status.device, inode: status.stamp.inode)
        var known: [[UInt8]: PictureIndex.File] = [:]
        try index.files(folder: id) { file throws(StorageError) in known[file.name] = file }
        for name in listing.files {
            guard let status = FileStatus(absolute(path.appending(name))) else { continue }
            let file = known.removeValue(forKey: name)
            if status.hardLinks < 2, watcher.isUnsettled(path, name),
                !isAtRest(path, name, status.stamp)
            {
                continue
            }
            collect(name, status.stamp, file, path, id)
        }
        folders += listing.folders.map(path.appending)
        for name in listing.others {
            guard let status = FileStatus(absolute(path.appending(name))) else { continue }
            switch status.kind {
            case .folder: links.append(path.appending(name))
            case .file: collect(name, status.stamp, known.removeValue(forKey: name), path, id)
            case .other: continue
            }
        }
        vanished += known.values
    }

    /// Whether a folder is one that is not in the index under another path, which a link may lead to.
    private func isNew(_ path: RelativePath, _ status: FileStatus) throws -> Bool {
        try index.folders(device: status.device, inode: status.stamp.inode).allSatisfy { known in
            known == path || FileStatus(absolute(known))?.stamp.inode != status.stamp.inode
        }
    }

    /// Lets go of a folder and all below it, if the index knows it.
    private func removeFolder(_ path: RelativePath) throws {
        for (id, below) in try index.folders(at: path) {
            removedFolders.insert(id)
            try index.files(folder: id) { file throws(StorageError) in vanished.append(file) }
            watcher.unwatch(below)
        }
    }

    // MARK: Comparing

    /// Whether a file that nobody was seen to close was not written to for a while: not every writer is seen,
    /// since a file may get its name when it is whole.
    private func isAtRest(
        _ folder: RelativePath, _ name: [UInt8], _ stamp: FileStamp
    ) -> Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let age = Int64(now.tv_sec) - stamp.modified / 1_000_000_000
        guard abs(age) >= FolderWatcher.restSeconds else { return false }
        watcher.settle(folder, name)
        return true
    }

    private func collect(
        _ name: [UInt8], _ stamp: FileStamp, _ known: PictureIndex.File?, _ folder: RelativePath,
        _ id: Int64
    ) {
        guard known?.stamp != stamp else { return }
        candidates.append(Candidate(folder: id, path: folder, name: name, stamp: stamp))
    }

    /// Reads the collected files, the newest first, and stores what they are.
    private func flush() throws {
        candidates.sort { $0.stamp.modified > $1.stamp.modified }
        var rest = candidates[...]
        candidates = []
        while !rest.isEmpty {
            guard !isStopped() else { throw CancellationError() }
            let batch = rest.prefix(Self.filesInTransaction)
            rest = rest.dropFirst(Self.filesInTransaction)
            let contents = batch.map { FileContent(ofFile: absolute($0.path.appending($0.name))) }
            try index.database.transaction { () throws(StorageError) in
                for (candidate, content) in zip(batch, contents) { try store(candidate, content) }
            }
            if ContinuousClock.now - lastPublish > Self.publishingInterval { publishChanges() }
        }
        lastFlush = ContinuousClock.now
    }

    private func store(_ candidate: Candidate, _ content: FileContent) throws(StorageError) {
        let (folder, name, stamp) = (candidate.folder, candidate.name, candidate.stamp)
        // What was known there may have been moved since, or the file been collected with its folder as well.
        let known = try index.file(folder: folder, name: name)
        guard known?.stamp != stamp else { return }
        // A file that was moved over another is itself; one that was written anew takes over from the old one.
        let moved = known?.stamp.inode == stamp.inode ? nil : try formerRow(stamp)
        let format: ImageFormat?
        switch content {
        case .image(let image): format = image
        case .other: format = nil
        case .unreadable:
            // Nothing is noted, so that every scan tries again; a photo that was moved is known, though.
            guard moved != nil else { return }
            format = nil
        }
        if let moved {
            if let displaced = try index.move(moved, folder: folder, name: name) {
                vanished.append(displaced)
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

    /// The row of a file that was moved: the same file, and no longer where the row says.
    private func formerRow(_ stamp: FileStamp) throws(StorageError) -> PictureIndex.File? {
        for file in try index.files(stamp: stamp) {
            guard let folder = try index.folderPath(file.folder),
                FileStatus(absolute(folder.appending(file.name)))?.stamp.inode != stamp.inode
            else { continue }
            return file
        }
        return nil
    }

    // MARK: Ending

    /// Deletes what has vanished for good, and tells the rest.
    private func finish() throws {
        try flush()
        try index.database.transaction { () throws(StorageError) in
            for file in vanished {
                // A file that has turned up elsewhere has another row by now.
                guard let row = try index.file(file.id), row.folder == file.folder,
                    row.name == file.name
                else { continue }
                try index.delete(file.id)
                guard file.format != nil else { continue }
                changes.removed.append(file.id)
                if let path = try index.folderPath(file.folder) { changes.left.insert(path) }
            }
            for folder in removedFolders { try index.deleteFolder(folder) }
            try index.dropOldGhosts()
        }
        vanished = []
        removedFolders = []
        publishChanges()
    }

    private func publishChanges() {
        lastPublish = ContinuousClock.now
        guard !changes.isEmpty else { return }
        publish(changes)
        changes = IndexChanges()
    }

    private func absolute(_ path: RelativePath) -> [UInt8] {
        path == .root ? root : root + [UInt8(ascii: "/")] + path.bytes
    }
}
