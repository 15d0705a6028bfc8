internal import Glibc
internal import ProviderKit
internal import Storage

/// Brings the index in line with the pictures folder: all of it, or what has changed.
///
/// Used on the scan queue, for one scan. File system calls have time limits and are made outside the queue of the
/// index, which serves other work meanwhile. A file or folder that cannot be read keeps its photos in the index, unless
/// the error proves that it is absent.
final class FolderScan {
    /// The pictures folder itself cannot be read, with the `errno`.
    struct RootUnreadable: Error {
        let code: Int32

        /// The code for a folder whose file system is not mounted.
        static let notMounted = ENODEV
    }

    private let root: [UInt8]
    private let database: DatabaseQueue
    private let files: PictureFiles
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
    /// Files and folders that could not be read this time. Those in the index stay as they were.
    private(set) var unavailable: Set<RelativePath> = []
    /// The paths that links to folders lead to.
    private var linkTargets: Set<[UInt8]> = []
    /// Mount points of the last scan that are mount points no more; nil before they are needed.
    private var lostMountPoints: Set<[UInt8]>?
    private var lastFlush = ContinuousClock.now
    private var lastPublish = ContinuousClock.now

    /// How long files are collected before the newest of them are read.
    private static let collectingTime = Duration.seconds(1)
    /// How often clients are told during a long scan.
    private static let publishingInterval = Duration.milliseconds(500)
    private static let filesInTransaction = 500
    /// The number of files that are looked at before the collected ones may be read.
    private static let filesAtOnce = 256
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
        /// True if the file is known to have replaced another, false if it is known to be new; nil if the watcher may
        /// know more.
        let isReplacement: Bool?
    }

    /// - Parameters:
    ///   - root: The absolute path of the pictures folder.
    ///   - database: The queue of the index.
    ///   - files: The file system.
    ///   - watcher: Watches the folders that are found.
    ///   - isStopped: Returns true if the scan is to end.
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

    /// Looks at the pictures folder and the folders above it. A link to a folder above it leads back to where it is.
    private func lookAtRoot() -> FileStatus.Lookup {
        var above: [[UInt8]] = []
        var folder = root[...]
        while let slash = folder.lastIndex(of: UInt8(ascii: "/")) {
            folder = folder[..<slash]
            above.append(folder.isEmpty ? [UInt8(ascii: "/")] : Array(folder))
        }
        let lookups = files.look([root] + above)
        for status in lookups.dropFirst().compactMap(\.status) {
            visited.insert(FolderKey(device: status.device, inode: status.stamp.inode))
        }
        if let status = lookups[0].status {
            visited.remove(FolderKey(device: status.device, inode: status.stamp.inode))
        }
        return lookups[0]
    }

    /// Compares everything.
    ///
    /// - Throws: ``RootUnreadable``, with the index emptied if the folder is absent; `StorageError`.
    func scanAll() throws {
        try index { index throws(StorageError) in try index.deleteDisplaced() }
        let lookup = lookAtRoot()
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
        } catch let error as FolderListing.Unreadable {
            throw RootUnreadable(code: error.code)
        }
        try scanTree([.root])
        try finish()
        try recordEnd()
    }

    /// Compares what may have changed.
    func scan(_ entries: [FolderWatcher.Entry]) throws {
        guard case .found(let root) = lookAtRoot(), root.kind == .folder else {
            return try scanAll()
        }
        var folders: [RelativePath] = []
        var noFolders: [RelativePath] = []
        var noFiles: [(folder: RelativePath, name: [UInt8])] = []
        let paths = entries.map { absolute($0.folder.appending($0.name)) }
        let maybeLinks = zip(paths, entries).filter { !$0.1.isSettled || $0.1.isReplacement }
            .map(\.0)
        let links = Set(zip(maybeLinks, files.areLinks(maybeLinks)).filter(\.1).map(\.0))
        for ((entry, absolutePath), lookup) in zip(zip(entries, paths), files.look(paths)) {
            let path = entry.folder.appending(entry.name)
            if lookup.isNo(.folder) { noFolders.append(path) }
            if lookup.isNo(.file) { noFiles.append((entry.folder, entry.name)) }
            switch lookup {
            case .absent: continue
            case .unavailable: unavailable.insert(path)
            case .found(let status) where status.kind == .folder: folders.append(path)
            case .found(let status) where status.kind == .file:
                // A new file is looked at when its writer closes it; links are whole at once.
                let isWhole =
                    entry.isSettled || status.hardLinks > 1 || links.contains(absolutePath)
                    || isAtRest(entry.folder, entry.name, status.stamp)
                guard isWhole else { continue }
                let known = try index {
                    index throws(StorageError) -> (Int64, PictureIndex.File?)? in
                    guard let folder = try index.folderID(entry.folder) else { return nil }
                    return (folder, try index.file(folder: folder, name: entry.name))
                }
                if let (folder, file) = known {
                    collect(
                        entry.name, status.stamp, file, entry.folder, folder,
                        isReplacement: entry.isReplacement && !links.contains(absolutePath))
                }
            case .found: continue
            }
        }
        try scanTree(folders)
        // What is gone comes last: by then it may have turned up elsewhere.
        try flush()
        for path in noFolders { try removeFolder(path) }
        // A link may lead to a folder that was left out while another path led there.
        if !removedFolders.isEmpty,
            try index({ index throws(StorageError) in try index.hasAliases })
        {
            try scanTree([.root])
        }
        for (folder, name) in noFiles {
            let file = try index { index throws(StorageError) -> PictureIndex.File? in
                guard let id = try index.folderID(folder) else { return nil }
                return try index.file(folder: id, name: name)
            }
            if let file { vanished.append(file) }
        }
        try finish()
    }

    /// Calls `body` with the index, on its queue.
    private func index<Value>(
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
        // Those that are lost stay known while photos are kept for them.
        if !unavailable.isEmpty { mounts.formUnion(try lostMounts()) }
        try index { index throws(StorageError) in
            try index.recordMountPoints(mounts)
            try index.recordCompleteness()
        }
    }

    // MARK: Mount points

    /// Returns the mount points of the last scan at which no file system is mounted now.
    private func lostMounts() throws -> Set<[UInt8]> {
        if let lostMountPoints { return lostMountPoints }
        let known = try index { index throws(StorageError) in try index.mountPoints }
        let lost = known.isEmpty ? [] : known.subtracting(files.mountPoints)
        lostMountPoints = lost
        return lost
    }

    /// Returns true if an empty folder was the mount point of a file system that is not mounted now. That it is empty
    /// does not prove that the photos are gone.
    private func isLostMountPoint(_ path: [UInt8]) throws -> Bool {
        let lost = try lostMounts()
        return !lost.isEmpty && lost.contains(files.realPath(path) ?? path)
    }

    /// Returns true if a path leads nowhere because the file system that it led to is not mounted: the mount point is
    /// there, and empty.
    private func isBelowLostMountPoint(_ path: [UInt8]) throws -> Bool {
        let lost = try lostMounts()
        guard !lost.isEmpty else { return false }
        let paths = [path, files.linkTarget(path)].compactMap(\.self)
        for mountPoint in lost where paths.contains(where: { RelativePath.isBelow($0, mountPoint) })
        {
            if case .success(let listing) = files.list(mountPoint, watch: {}), listing.isEmpty {
                return true
            }
        }
        return false
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
            let known = try index { index throws(StorageError) in try index.folders(at: top) }
            for (_, path) in known where !seen.contains(path) && !isUnavailable(path) {
                try removeFolder(path)
            }
        }
    }

    /// Returns true for a folder that could not be read, and for all folders below it.
    private func isUnavailable(_ path: RelativePath) -> Bool {
        guard !unavailable.isEmpty else { return false }
        var path = path
        while !unavailable.contains(path) {
            guard let parent = path.split?.folder else { return false }
            path = parent
        }
        return true
    }

    private func scanFolder(
        _ path: RelativePath, _ folders: inout [RelativePath], _ links: inout [RelativePath]
    ) throws {
        guard !isStopped() else { throw CancellationError() }
        guard path.depth < Self.maximumDepth else { return }
        let absolutePath = absolute(path)
        let status: FileStatus
        switch files.look(absolutePath) {
        case .absent: return
        case .unavailable:
            unavailable.insert(path)
            return
        case .found(let found):
            guard found.kind == .folder else { return }
            status = found
        }
        let key = FolderKey(device: status.device, inode: status.stamp.inode)
        guard try isNew(path, status), visited.insert(key).inserted else {
            return try index { index throws(StorageError) in try index.noteAlias() }
        }
        // Watched first, so that nothing happens between reading and watching.
        let listing: FolderListing
        do {
            listing = try files.list(absolutePath) { [watcher] in
                watcher.watch(path, at: absolutePath)
            }.get()
        } catch {
            if !FileStatus.provesAbsence(error.code) { unavailable.insert(path) }
            return
        }
        if listing.isEmpty, try isLostMountPoint(absolutePath) {
            unavailable.insert(path)
            return
        }
        seen.insert(path)
        var (id, known) = try index {
            index throws(StorageError) -> (Int64, [[UInt8]: PictureIndex.File]) in
            let id = try index.addFolder(path, device: status.device, inode: status.stamp.inode)
            var known: [[UInt8]: PictureIndex.File] = [:]
            try index.files(folder: id) { file throws(StorageError) in known[file.name] = file }
            return (id, known)
        }
        folders += listing.folders.map(path.appending)
        // On a slow disk the first photos of a large folder do not wait for the last ones.
        var names = listing.files[...]
        while !names.isEmpty {
            try compareFiles(names.prefix(Self.filesAtOnce), in: path, id, &known)
            names = names.dropFirst(Self.filesAtOnce)
            if ContinuousClock.now - lastFlush > Self.collectingTime { try flush() }
        }
        try compareOthers(listing.others, in: path, id, &known, &links)
        vanished += known.values
    }

    private func compareFiles(
        _ names: ArraySlice<[UInt8]>, in folder: RelativePath, _ id: Int64,
        _ known: inout [[UInt8]: PictureIndex.File]
    ) throws {
        guard !isStopped() else { throw CancellationError() }
        let lookups = files.look(names.map { absolute(folder.appending($0)) })
        for (name, lookup) in zip(names, lookups) {
            switch lookup {
            case .found(let status) where status.kind == .file:
                let file = known.removeValue(forKey: name)
                let isOpen =
                    status.hardLinks < 2 && watcher.isUnsettled(folder, name)
                    && !isAtRest(folder, name, status.stamp)
                if !isOpen { collect(name, status.stamp, file, folder, id) }
            case .found, .absent: continue
            case .unavailable: keep(name, in: folder, &known)
            }
        }
    }

    /// Compares links, and entries whose kind the file system does not tell.
    private func compareOthers(
        _ names: [[UInt8]], in folder: RelativePath, _ id: Int64,
        _ known: inout [[UInt8]: PictureIndex.File], _ links: inout [RelativePath]
    ) throws {
        let lookups = files.look(names.map { absolute(folder.appending($0)) })
        for (name, lookup) in zip(names, lookups) {
            let path = folder.appending(name)
            switch lookup {
            case .found(let status) where status.kind == .folder:
                links.append(path)
                if let target = files.realPath(absolute(path)) { linkTargets.insert(target) }
            case .found(let status) where status.kind == .file:
                // A link that leads elsewhere than before leads to another file.
                collect(
                    name, status.stamp, known.removeValue(forKey: name), folder, id,
                    isReplacement: false)
            case .found: continue
            case .absent:
                if try isBelowLostMountPoint(absolute(path)) { keep(name, in: folder, &known) }
            case .unavailable: keep(name, in: folder, &known)
            }
        }
    }

    /// Leaves an entry in the index what it was there, a file or a folder.
    private func keep(
        _ name: [UInt8], in folder: RelativePath, _ known: inout [[UInt8]: PictureIndex.File]
    ) {
        known[name] = nil
        unavailable.insert(folder.appending(name))
    }

    /// Returns false if the index has the folder under another path, which a link may lead to.
    private func isNew(_ path: RelativePath, _ status: FileStatus) throws -> Bool {
        let paths = try index { index throws(StorageError) in
            try index.folders(device: status.device, inode: status.stamp.inode)
        }
        return files.look(paths.filter { $0 != path }.map(absolute)).allSatisfy { lookup in
            switch lookup {
            case .found(let other): other.stamp.inode != status.stamp.inode
            case .absent: true
            case .unavailable: false
            }
        }
    }

    /// Removes a folder and all folders below it, if the index has it.
    private func removeFolder(_ path: RelativePath) throws {
        let (folders, files) = try index {
            index throws(StorageError) -> ([(id: Int64, path: RelativePath)], [PictureIndex.File])
            in
            let folders = try index.folders(at: path)
            var files: [PictureIndex.File] = []
            for (id, _) in folders {
                try index.files(folder: id) { file throws(StorageError) in files.append(file) }
            }
            return (folders, files)
        }
        vanished += files
        for (id, below) in folders {
            removedFolders.insert(id)
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
        _ id: Int64, isReplacement: Bool? = nil
    ) {
        guard known?.stamp != stamp else { return }
        candidates.append(
            Candidate(
                folder: id, path: folder, name: name, stamp: stamp, isReplacement: isReplacement))
    }

    /// Returns true if a file has replaced another one while its name was never free, as editors do it.
    private func isReplacement(_ candidate: Candidate) -> Bool {
        guard candidate.isReplacement != false else { return false }
        return watcher.isReplacement(candidate.path, candidate.name)
            ?? candidate.isReplacement ?? false
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
        // What was known there may have been moved since, or the file been collected with its folder as well.
        let known = try index.file(folder: folder, name: name)
        guard known?.stamp != stamp else { return }
        // A file that was moved over another is itself; one that was written anew takes over from the old one.
        let moved = known?.stamp.inode == stamp.inode ? nil : try formerRow(stamp, index, former)
        let format: ImageFormat?
        switch content {
        case .image(let image): format = image
        case .other: format = nil
        case .unreadable:
            // Nothing is noted, so that every scan tries again; a photo that was moved is known, though.
            unavailable.insert(candidate.path.appending(name))
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

    /// The inodes at paths of the index, as far as they are known; nil for paths that lead nowhere.
    private typealias FormerPaths = [RelativePath: Int64?]

    /// Looks at the paths where the index has files that may be the same as candidates.
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
        for (path, lookup) in zip(list, files.look(list.map(absolute))) {
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

    /// The row of a file that was moved: the same file, and proven to be no longer where the row says.
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

    // MARK: Ending

    /// Deletes what has vanished for good, and tells the rest.
    private func finish() throws {
        try flush()
        try database.runAndWait { database in
            try deleteVanished(PictureIndex(database))
        }
        vanished = []
        removedFolders = []
        publishChanges()
    }

    private func deleteVanished(_ index: PictureIndex) throws(StorageError) {
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
