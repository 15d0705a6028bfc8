internal import Glibc
internal import ImageMetadata
internal import Storage
internal import System

/// A scan of the pictures folder, or of its changed parts, that updates the index.
///
/// An instance is used once, on the scan queue. File system calls have time limits and are made outside the queue of
/// the index, which serves other work meanwhile. Photos in a file or folder that cannot be read stay in the index,
/// unless the error proves that the file is absent.
final class FolderScan {
    /// The `errno` for a folder whose file system is not mounted.
    static let notMounted = ENODEV

    let root: [UInt8]
    let store: Store
    let files: PictureFiles
    let watcher: FolderWatcher
    let marks: LocalMarks
    let filter: PhotoFilter
    /// Reads the metadata of photos for a limited time, and returns the folders whose order has changed.
    private let examine: (Set<Int64>) -> Set<RelativePath>
    /// The number of photos whose metadata is read before they are published. That of more photos, such as those of the
    /// first scan, is read in the background.
    private var examinations = maximumExaminations
    /// Receives the changes since the last call. They are in the index by then.
    private let publish: (IndexChanges) -> Void
    /// Returns true if the scan must end.
    let isStopped: () -> Bool
    /// The changes since the last call of ``publish``.
    var changes = IndexChanges()
    /// All changes before that.
    private(set) var published = IndexChanges()
    var candidates: [Candidate] = []
    /// The changed files at the paths of marked photos that may be other photos or edits, by their paths. They get their
    /// rows at the end of the scan.
    var doubts: [RelativePath: (id: Int64, place: Candidate, mayBeEdit: Bool)] = [:]
    /// The new paths and stamps of marked photos that were recognized without their image data, and the files of edited
    /// ones, which get their rows after the marks were stored.
    var movedMarks: [Int64: (path: RelativePath, stamp: FileStamp, edit: Candidate?)] = [:]
    /// The paths of other known files that have changed or that events name; a missing marked photo may be there.
    var storedPaths: Set<RelativePath> = []
    /// The files that were read for their image data.
    var readings: [RelativePath: DigestReader.Result] = [:]
    /// The files that could not be read for a comparison with marked photos.
    var unread: [Candidate] = []
    /// True if the index was lost or emptied, so that it does not contain the marked photos.
    var isRebuilding = false
    /// The events that this scan uses.
    var events = NameEvents()
    /// Rows whose file is not at the path in the index. The file may be found elsewhere before the scan ends.
    var missing: [PictureIndex.File] = []
    /// Folders that this scan has visited, so that links do not lead to them again.
    var visited: Set<FileIdentity> = []
    /// The paths of the visited folders.
    var visitedPaths: Set<RelativePath> = []
    /// Folders that were moved or deleted, by their rows.
    var removedFolders: [Int64: RelativePath] = [:]
    /// The changed paths that were compared; empty in a scan of everything.
    private var comparedPaths: Set<RelativePath> = []
    /// Files and folders that could not be read. Their rows in the index stay unchanged.
    var unavailable: Set<RelativePath> = []
    /// Files whose writers have not closed them yet.
    var unclosed: Set<RelativePath> = []
    /// The links that were found.
    private var links: Set<RelativePath> = []
    /// Their resolved targets.
    private var linkTargets: Set<[UInt8]> = []
    /// Folders that were omitted, because another path leads to them.
    var aliases: Set<RelativePath> = []
    /// Folders that a file hides. They are watched, because the file may be deleted.
    var hidden: Set<RelativePath> = []
    /// Folders that were omitted, because they are too deep.
    var deepFolders: Set<RelativePath> = []
    /// Folders in the index that are not read again, although a folder above them is.
    var unchangedFolders: Set<RelativePath> = []
    /// Mount points of the last scan at which no file system is mounted; nil before they are needed.
    var lostMountPoints: Set<[UInt8]>?
    /// True if the page cache of the index is large.
    var isLarge = false
    var lastFlush = ContinuousClock.now
    var lastPublish = ContinuousClock.now

    /// The time for which files are collected before the newest of them are read.
    static let collectingTime = Duration.seconds(1)
    /// The interval at which a long scan publishes changes.
    static let publishingInterval = Duration.milliseconds(500)
    /// The numbers of files in a transaction: few at first, so that the first photos are shown early, and more while this
    /// takes little time, because a large transaction writes each page of the index less often.
    static let filesInTransaction = 500...8000
    /// The number of files that are looked up before the collected ones may be read.
    static let filesAtOnce = 256
    /// The maximum depth of folders. Ordinary trees are less deep.
    static let maximumDepth = 64
    private static let maximumExaminations = 500

    /// A file that is new or differs from the index.
    struct Candidate {
        /// The row of the folder.
        let folderID: Int64
        let path: RelativePath
        let stamp: FileStamp
        /// True if the target of a link may have changed, so that the file is another one.
        let mayBeLink: Bool
        /// The event that reported the file; nil if the folder was read.
        var event: FolderWatcher.Entry?
        /// nil before the file was read, and for a file that is no photo.
        var format: ImageFormat?

        /// True if an event shows that the contents may have changed, although the stamp may be the same.
        var isReported: Bool { event?.hasOnlyAttributes == false }

        var folder: RelativePath { path.split?.folder ?? .root }
        var name: [UInt8] { path.split?.name ?? [] }
    }

    /// - Parameters:
    ///   - root: The absolute path of the pictures folder.
    ///   - store: The store of the index.
    ///   - files: The file system.
    ///   - watcher: Watches the scanned folders.
    ///   - marks: The marked photos.
    ///   - filter: The files and folders that are not shown.
    ///   - isStopped: Returns true if the scan must end.
    ///   - examine: Reads the metadata of photos for a limited time, and returns the folders whose order has changed.
    ///   - publish: Receives the changes since its last call. They are in the index by then.
    init(
        root: [UInt8], _ store: Store, _ files: PictureFiles, _ watcher: FolderWatcher,
        _ marks: LocalMarks, _ filter: PhotoFilter = PhotoFilter(),
        isStopped: @escaping () -> Bool,
        examine: @escaping (Set<Int64>) -> Set<RelativePath> = { _ in [] },
        publish: @escaping (IndexChanges) -> Void
    ) {
        self.filter = filter
        self.examine = examine
        self.isStopped = isStopped
        self.root = root
        self.store = store
        self.files = files
        self.watcher = watcher
        self.marks = marks
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
        for status in lookups.dropFirst().compactMap(\.status) { visited.insert(status.identity) }
        if let status = lookups[0].status { visited.remove(status.identity) }
        return lookups[0]
    }

    /// Returns the folders whose changes are not reported.
    func unreportedFolders() throws -> [(path: RelativePath, device: Int64, modified: Int64)] {
        let remote = files.remoteDevices
        guard !remote.isEmpty || watcher.exceededLimit != nil else { return [] }
        return try index { try $0.foldersAndTimes() }
            .filter { remote.contains($0.device) || watcher.isUnwatched($0.path) }
    }

    /// Returns true if changes of one of these folders, which are not in the index, are not reported.
    func areUnreported(_ folders: Set<RelativePath>) -> Bool {
        let remote = folders.isEmpty ? [] : files.remoteDevices
        guard !remote.isEmpty else { return false }
        return files.lookUp(folders.map(absolute)).contains {
            $0.status.map { remote.contains($0.identity.device) } ?? true
        }
    }

    /// Returns the paths that are not proven to be absent.
    func existing(_ paths: Set<RelativePath>) -> [RelativePath] {
        zip(paths, files.lookUp(paths.map(absolute))).compactMap { path, lookup in
            if case .absent = lookup { nil } else { path }
        }
    }

    /// Scans the folders whose changes are not reported, if their modification times have changed, or if their last scan
    /// found recent changes: a write to a file does not change the time of its folder. Also scans the hidden folders that
    /// no file hides any more.
    ///
    /// - Parameter hidden: The folders that earlier scans omitted, because a file hides them.
    /// - Returns: The folders whose changes are not reported.
    /// - Throws: `StorageError`, `CancellationError`.
    func scanUnreported(_ hidden: Set<RelativePath>) throws -> [RelativePath] {
        defer { if isLarge { store.setCache(kibibytes: nil) } }
        let folders = try unreportedFolders()
        var changed: [RelativePath] = []
        for (folder, lookup) in zip(folders, try lookUp(folders.map { absolute($0.path) })) {
            switch lookup {
            case .found(let status) where status.kind == .directory:
                if status.stamp.modified != folder.modified { changed.append(folder.path) }
            case .found, .absent: if folder.path != .root { changed.append(folder.path) }
            case .unavailable: continue
            }
        }
        let markers = Set(hidden.flatMap { folder in PhotoFilter.markers.map(folder.appending) })
        self.hidden = Set(existing(markers).compactMap(\.split?.folder))
        changed += hidden.subtracting(self.hidden)
        if !changed.isEmpty {
            let known = try index { try $0.foldersAndTimes() }
            unchangedFolders = Set(known.map(\.path)).subtracting(changed)
            _ = lookUpRoot()
            try scanTree(changed)
            try finish()
        }
        return folders.map(\.path)
    }

    /// Scans everything, or paths that may have changed.
    ///
    /// - Throws: `FileError` for a pictures folder that cannot be read, with the index emptied if the folder is absent;
    ///   `StorageError`.
    func scan(_ entries: [FolderWatcher.Entry]?) throws {
        defer { if isLarge { store.setCache(kibibytes: nil) } }
        isRebuilding = try index { try !$0.isComplete }
        if isRebuilding { examinations = 0 }
        let root = lookUpRoot()
        // Without the pictures folder, no entry is looked up. An index that is not complete needs everything.
        let entries = root.status?.kind == .directory && !isRebuilding ? entries : nil
        events = watcher.beginScan(entries?.map(\.path))
        do {
            if let entries { try scanEntries(withDestinations(entries)) } else { try scanAll(root) }
            let unfinished = unavailable.union(unclosed)
            watcher.endScan(events) { $0.isOrIsBelow(where: unfinished.contains) }
        } catch {
            watcher.cancelScan(events)
            throw error
        }
    }

    /// Adds the paths to which changed files were moved meanwhile.
    private func withDestinations(_ entries: [FolderWatcher.Entry]) -> [FolderWatcher.Entry] {
        entries
            + events.destinations.subtracting(entries.map(\.path)).map {
                FolderWatcher.Entry(path: $0, isClosed: !watcher.isUnclosed($0))
            }
    }

    private func scanAll(_ lookup: FileStatus.Lookup) throws {
        missing = try index { try $0.displaced() }
        files.watchTarget(of: .root, at: root, watcher)
        var lookup = lookup
        // A folder, or the target of a link, may have appeared before it was watched.
        if lookup.excludes(.directory) { lookup = lookUpRoot() }
        if case .unavailable(let code) = lookup { throw FileError(code: code) }
        guard lookup.status?.kind == .directory else {
            let isLink = files.areLinks([root])[0]
            if try isLink || isBelowLostMountPoint(root) { throw FileError(code: Self.notMounted) }
            try removeFolder(.root)
            try finish()
            throw FileError(code: lookup.status == nil ? ENOENT : ENOTDIR)
        }
        let listing = try files.list(root, watch: {}).get()
        if listing.entries.isEmpty, try isLostMountPoint(root) {
            throw FileError(code: Self.notMounted)
        }
        try scanTree([.root])
        try finish()
        try index { try $0.setAliases(aliases) }
        try recordMountPoints()
        try index { try $0.recordCompleteness() }
    }

    private func scanEntries(_ entries: [FolderWatcher.Entry]) throws {
        var folders: [RelativePath] = []
        var absentFolders: [RelativePath] = []
        var absentFiles: [RelativePath] = []
        let entries = entries + rawFiles(beside: entries)
        let paths = entries.map { absolute($0.path) }
        let changed = entries.filter { !$0.hasOnlyAttributes }.map(\.path)
        comparedPaths = Set(changed)
        for (path, isLink) in zip(changed, files.areLinks(changed.map(absolute))) where isLink {
            followLink(path)
        }
        for (entry, lookup) in zip(entries, try lookUp(paths)) {
            let path = entry.path
            let isLink = links.contains(path)
            if lookup.excludes(.directory) { absentFolders.append(path) }
            if lookup.excludes(.file) {
                absentFiles.append(path)
                // Only a file that is written is closed.
                watcher.markClosed(path)
            }
            switch lookup {
            case .absent: continue
            case .unavailable: unavailable.insert(path)
            case .found(let status) where status.kind == .directory:
                // The folder above may be hidden.
                guard try index({ try $0.file(at: path) }) != nil else { continue }
                if try !entry.hasOnlyAttributes || !isScanned(path, status) { folders.append(path) }
            case .found(let status) where try status.kind == .file && isHiddenRaw(path):
                absentFiles.append(path)
            case .found(let status) where status.kind == .file && !filter.hidesFile(path):
                // A new file is read when its writer closes it. Links are complete at once.
                guard try entry.isClosed || isLink || isComplete(path, status) else {
                    unclosed.insert(path)
                    continue
                }
                watcher.markClosed(path)
                let known = try index { try $0.file(at: path) }
                if let known, !entry.hasOnlyAttributes || known.file?.stamp != status.stamp {
                    candidates.append(
                        Candidate(
                            folderID: known.folder, path: path, stamp: status.stamp,
                            mayBeLink: isLink, event: entry))
                }
            case .found: continue
            }
        }
        try scanTree(folders)
        // Missing files are processed last, because they may have been found elsewhere by then.
        try flush()
        for path in absentFolders { try removeFolder(path) }
        // A link may lead to a folder that was omitted because the removed path led to it.
        if !removedFolders.isEmpty {
            let aliases = try index { try $0.aliases }.union(aliases)
            try scanTree(aliases.filter { !visitedPaths.contains($0) })
        }
        for path in absentFiles {
            if let file = try index({ try $0.file(at: path)?.file }) { missing.append(file) }
        }
        try finish()
        if !aliases.isEmpty {
            try index { try $0.setAliases($0.aliases.union(aliases)) }
        }
        if !folders.isEmpty { try recordMountPoints() }
    }

    /// Returns the raw files that changed pictures hide, or do not hide any more.
    private func rawFiles(beside entries: [FolderWatcher.Entry]) -> [FolderWatcher.Entry] {
        let paths = entries.filter { !$0.hasOnlyAttributes }
            .flatMap { filter.rawFiles(besidePicture: $0.path) }
        return zip(paths, files.lookUp(paths.map(absolute))).compactMap { path, lookup in
            lookup.status.map { _ in
                FolderWatcher.Entry(
                    path: path, isClosed: !watcher.isUnclosed(path), hasOnlyAttributes: true)
            }
        }
    }

    /// Returns true if a picture that can be shown is beside a raw file of the same name. `names` are the paths of the files
    /// in the folder; nil if they are unknown.
    func isHiddenRaw(_ path: RelativePath, among names: Set<RelativePath>? = nil) throws -> Bool {
        let pictures = filter.pictures(besideRaw: path, among: names)
        return try zip(pictures, files.lookUp(pictures.map(absolute))).contains {
            let (path, lookup) = $0
            guard let status = lookup.status, status.kind == .file else { return false }
            let known = try index { try $0.file(at: path)?.file }
            guard let known, known.stamp == status.stamp, known.format == nil || known.isExamined
            else { return files.hasImage(absolute(path)) }
            return known.facts != nil
        }
    }

    /// Returns true if a folder whose attributes have changed is in the index and can be read, so that its files need
    /// not be compared.
    private func isScanned(_ path: RelativePath, _ status: FileStatus) throws -> Bool {
        let known = try index { try $0.folders(status.identity) }
        return known.contains(path) && files.isReadable(absolute(path))
    }

    /// Watches what a link leads to.
    func followLink(_ path: RelativePath) {
        links.insert(path)
        files.watchTarget(of: path, at: absolute(path), watcher)
        if let target = files.realPath(absolute(path)) { linkTargets.insert(target) }
    }

    /// Looks up paths. A path that is absent because its file system is not mounted is unavailable.
    func lookUp(_ paths: [[UInt8]]) throws -> [FileStatus.Lookup] {
        let lookups = files.lookUp(paths)
        guard try !lostMounts().isEmpty else { return lookups }
        return try zip(paths, lookups).map { path, lookup in
            guard case .absent = lookup, try isBelowLostMountPoint(path) else { return lookup }
            return .unavailable(Self.notMounted)
        }
    }

    /// Calls `body` with the index, on its queue.
    func index<Value>(_ body: (PictureIndex) throws -> Value) throws -> Value {
        try store.runAndWait { try body(PictureIndex($0)) }
    }

    /// Calls `body` with the index, on its queue, in a transaction.
    func transaction(_ body: (PictureIndex) throws(StorageError) -> Void) throws {
        try index { index in
            try index.database.transaction { () throws(StorageError) in try body(index) }
        }
    }

    /// Records the mount points that the photos come from.
    private func recordMountPoints() throws {
        let mounted = files.mountPoints
        let root = files.realPath(root) ?? root
        let links = linkTargets.map { RelativePath.mountPoint(of: $0, mounted) }
        var mounts = mounted.filter { RelativePath.isBelow($0, root) }.union(links)
        mounts.insert(RelativePath.mountPoint(of: root, mounted))
        // Lost mount points stay recorded while photos below them are kept in the index. A scan of a part does not see
        // the other mount points.
        if !unavailable.isEmpty || !visitedPaths.contains(.root) {
            mounts.formUnion(try index { try $0.mountPoints })
        }
        try index { try $0.recordMountPoints(mounts) }
    }

    // MARK: End

    /// Decides about marked photos, deletes the rows of missing files, and publishes the remaining changes.
    private func finish() throws {
        try flush()
        try identifyMarked()
        try transaction(deleteMissing)
        let removed = Set(removedFolders.values)
        watcher.removeLinks { path in
            guard let folder = path.split?.folder, !links.contains(path) else { return false }
            return comparedPaths.contains(path) || visitedPaths.contains(folder)
                || removed.contains(folder)
        }
        watcher.reportAgain(unclosed)
        missing = []
        removedFolders = [:]
        publishChanges()
    }

    /// Deletes the rows of missing files, and those that the decision about marked photos needed.
    private func deleteMissing(_ index: PictureIndex) throws(StorageError) {
        for file in missing {
            guard try isMissing(file, index) else { continue }
            try index.delete(file.id)
            if file.format != nil { changes.remove(file.id, from: file.folder) }
        }
        for folder in removedFolders.keys { try index.deleteFolder(folder) }
        if !marks.isEmpty { try index.forgetUncompared() }
        try index.deleteOldFormerPositions()
    }

    /// Returns false for a missing file that was found elsewhere: it has another folder or name by now.
    func isMissing(_ file: PictureIndex.File, _ index: PictureIndex) throws(StorageError) -> Bool {
        try index.file(file.id)?.path == file.path
    }

    func publishChanges() {
        guard !changes.isEmpty else {
            lastPublish = ContinuousClock.now
            return
        }
        let photos = changes.changed.union(changes.added.keys)
        if photos.count <= examinations {
            examinations -= photos.count
            changes.reorder(examine(photos))
        }
        lastPublish = ContinuousClock.now
        published.merge(changes)
        publish(changes)
        changes = IndexChanges()
    }

    func absolute(_ path: RelativePath) -> [UInt8] { path.absolute(below: root) }
}
