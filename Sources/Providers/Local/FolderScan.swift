internal import Glibc
internal import Storage
internal import System

/// A scan of the pictures folder, or of its changed parts, that updates the index.
///
/// An instance is used once, on the scan queue. File system calls have time limits and are made outside the queue of
/// the index, which serves other work meanwhile. Photos in a file or folder that cannot be read stay in the index,
/// unless the error proves that the file is absent.
final class FolderScan {
    /// The error for a pictures folder that cannot be read, with the `errno`.
    struct RootUnreadable: Error {
        let code: Int32

        /// The code for a folder whose file system is not mounted.
        static let notMounted = ENODEV
    }

    private let root: [UInt8]
    let database: DatabaseQueue
    let files: PictureFiles
    let watcher: FolderWatcher
    /// Receives the changes since the last call. They are in the index by then.
    private let publish: (IndexChanges) -> Void
    /// Returns true if the scan must end.
    let isStopped: () -> Bool
    var changes = IndexChanges()
    var candidates: [Candidate] = []
    /// Rows whose file is not at the path in the index. The file may be found elsewhere before the scan ends.
    var missing: [PictureIndex.File] = []
    /// Folders that this scan has visited, so that links do not lead to them again.
    var visited: Set<FolderKey> = []
    /// The paths of the visited folders.
    var visitedPaths: Set<RelativePath> = []
    /// Folders that were moved or deleted.
    var removedFolders: Set<Int64> = []
    /// Files and folders that could not be read. Their rows in the index stay unchanged.
    var unavailable: Set<RelativePath> = []
    /// Files whose writers have not closed them yet.
    var unclosed: Set<RelativePath> = []
    /// The resolved targets of links to folders.
    var linkTargets: Set<[UInt8]> = []
    /// Mount points of the last scan at which no file system is mounted; nil before they are needed.
    var lostMountPoints: Set<[UInt8]>?
    var lastFlush = ContinuousClock.now
    var lastPublish = ContinuousClock.now

    /// The time for which files are collected before the newest of them are read.
    static let collectingTime = Duration.seconds(1)
    /// The interval at which a long scan publishes changes.
    static let publishingInterval = Duration.milliseconds(500)
    static let filesInTransaction = 500
    /// The number of files that are looked up before the collected ones may be read.
    static let filesAtOnce = 256
    /// The maximum depth of folders. Ordinary trees are less deep.
    static let maximumDepth = 64

    struct FolderKey: Hashable {
        let device: Int64
        let inode: Int64
    }

    /// A file that is new or differs from the index.
    struct Candidate {
        let folder: Int64
        let path: RelativePath
        let name: [UInt8]
        let stamp: FileStamp
        /// True if the target of a link may have changed, so that the file is another one.
        let mayBeLink: Bool
    }

    /// - Parameters:
    ///   - root: The absolute path of the pictures folder.
    ///   - database: The queue of the index.
    ///   - files: The file system.
    ///   - watcher: Watches the scanned folders.
    ///   - isStopped: Returns true if the scan must end.
    ///   - publish: Receives the changes since its last call. They are in the index by then.
    init(
        root: [UInt8], _ database: DatabaseQueue, _ files: PictureFiles, _ watcher: FolderWatcher,
        isStopped: @escaping () -> Bool, publish: @escaping (IndexChanges) -> Void
    ) {
        self.isStopped = isStopped
        self.root = root
        self.database = database
        self.files = files
        self.watcher = watcher
        self.publish = publish
    }

    /// Looks up the pictures folder, and marks its parents as visited: a link to one of them would lead back to the
    /// folder.
    private func lookUpRoot() -> FileStatus.Lookup {
        var above: [[UInt8]] = []
        var folder = root[...]
        while let slash = folder.lastIndex(of: UInt8(ascii: "/")) {
            folder = folder[..<slash]
            above.append(folder.isEmpty ? [UInt8(ascii: "/")] : Array(folder))
        }
        let lookups = files.lookUp([root] + above)
        for status in lookups.dropFirst().compactMap(\.status) {
            visited.insert(FolderKey(device: status.device, inode: status.stamp.inode))
        }
        if let status = lookups[0].status {
            visited.remove(FolderKey(device: status.device, inode: status.stamp.inode))
        }
        return lookups[0]
    }

    /// Scans everything.
    ///
    /// - Throws: ``RootUnreadable``, with the index emptied if the folder is absent; `StorageError`.
    func scanAll() throws {
        let begin = watcher.beginScan()
        try index { index throws(StorageError) in try index.deleteDisplaced() }
        let lookup = lookUpRoot()
        if case .unavailable(let code) = lookup { throw RootUnreadable(code: code) }
        guard lookup.status?.kind == .folder else {
            if try isBelowLostMountPoint(root) {
                throw RootUnreadable(code: RootUnreadable.notMounted)
            }
            try removeFolder(.root)
            try finish()
            throw RootUnreadable(code: ENOENT)
        }
        do {
            let listing = try files.list(root, watch: {}).get()
            if listing.isEmpty, try isLostMountPoint(root) {
                throw RootUnreadable(code: RootUnreadable.notMounted)
            }
        } catch let error as FileError {
            throw RootUnreadable(code: error.code)
        }
        try scanTree([.root])
        try finish()
        try recordEnd()
        watcher.endScan(begin: begin, nil, except: unavailable.union(unclosed))
    }

    /// Scans the paths that may have changed.
    func scan(_ entries: [FolderWatcher.Entry]) throws {
        guard case .found(let root) = lookUpRoot(), root.kind == .folder else {
            return try scanAll()
        }
        let begin = watcher.beginScan()
        var folders: [RelativePath] = []
        var absentFolders: [RelativePath] = []
        var absentFiles: [(folder: RelativePath, name: [UInt8])] = []
        let paths = entries.map { absolute($0.path) }
        let possibleLinks = zip(paths, entries)
            .filter { !$0.1.isClosed || !watcher.wasFree($0.1.path) }.map(\.0)
        let links = Set(zip(possibleLinks, files.areLinks(possibleLinks)).filter(\.1).map(\.0))
        for ((entry, absolutePath), lookup) in zip(zip(entries, paths), files.lookUp(paths)) {
            let path = entry.path
            if lookup.excludes(.folder) { absentFolders.append(path) }
            if lookup.excludes(.file) { absentFiles.append((entry.folder, entry.name)) }
            switch lookup {
            case .absent: continue
            case .unavailable: unavailable.insert(path)
            case .found(let status) where status.kind == .folder: folders.append(path)
            case .found(let status) where status.kind == .file:
                // A new file is read when its writer closes it. Links are complete at once.
                let isWhole =
                    entry.isClosed || status.hardLinks > 1 || links.contains(absolutePath)
                    || isUnmodified(entry.folder, entry.name, status.stamp)
                guard isWhole else {
                    unclosed.insert(path)
                    continue
                }
                let known = try index {
                    index throws(StorageError) -> (Int64, PictureIndex.File?)? in
                    guard let folder = try index.folderID(entry.folder) else { return nil }
                    return (folder, try index.file(folder: folder, name: entry.name))
                }
                if let (folder, file) = known {
                    addCandidate(
                        entry.name, status.stamp, file, entry.folder, folder,
                        mayBeLink: links.contains(absolutePath))
                }
            case .found: continue
            }
        }
        try scanTree(folders)
        // Missing files are processed last, because they may have been found elsewhere by then.
        try flush()
        for path in absentFolders { try removeFolder(path) }
        // A link may lead to a folder that was omitted because the removed path led to it.
        if !removedFolders.isEmpty,
            try index({ index throws(StorageError) in try index.hasAliases })
        {
            try scanTree([.root])
        }
        for (folder, name) in absentFiles {
            let file = try index { index throws(StorageError) -> PictureIndex.File? in
                guard let id = try index.folderID(folder) else { return nil }
                return try index.file(folder: id, name: name)
            }
            if let file { missing.append(file) }
        }
        try finish()
        watcher.endScan(begin: begin, entries.map(\.path), except: unavailable.union(unclosed))
    }

    /// Calls `body` with the index, on its queue.
    func index<Value>(
        _ body: (PictureIndex) throws(StorageError) -> Value
    ) throws -> Value {
        try database.runAndWait { try body(PictureIndex($0)) }
    }

    /// Records that the scan of everything has ended.
    private func recordEnd() throws {
        let mounted = files.mountPoints
        let root = files.realPath(root) ?? root
        let links = linkTargets.map { RelativePath.mountPoint(of: $0, mounted) }
        var mounts = mounted.filter { RelativePath.isBelow($0, root) }.union(links)
        mounts.insert(RelativePath.mountPoint(of: root, mounted))
        // Lost mount points stay recorded while photos below them are kept in the index.
        if !unavailable.isEmpty { mounts.formUnion(try lostMounts()) }
        try index { index throws(StorageError) in
            try index.recordMountPoints(mounts)
            try index.recordCompleteness()
        }
    }

    // MARK: End

    /// Deletes the rows of missing files, and publishes the remaining changes.
    private func finish() throws {
        try flush()
        try database.runAndWait { database in
            try deleteMissing(PictureIndex(database))
        }
        missing = []
        removedFolders = []
        publishChanges()
    }

    private func deleteMissing(_ index: PictureIndex) throws(StorageError) {
        try index.database.transaction { () throws(StorageError) in
            for file in missing {
                // A file that was found elsewhere has another folder or name by now.
                guard let row = try index.file(file.id), row.folder == file.folder,
                    row.name == file.name
                else { continue }
                try index.delete(file.id)
                guard file.format != nil else { continue }
                changes.removed.append(file.id)
                if let path = try index.folderPath(file.folder) { changes.left.insert(path) }
            }
            for folder in removedFolders { try index.deleteFolder(folder) }
            try index.deleteOldFormerPositions()
        }
    }

    func publishChanges() {
        lastPublish = ContinuousClock.now
        guard !changes.isEmpty else { return }
        publish(changes)
        changes = IndexChanges()
    }

    func absolute(_ path: RelativePath) -> [UInt8] {
        path == .root ? root : root + [UInt8(ascii: "/")] + path.bytes
    }
}
