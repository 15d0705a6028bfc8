import EngineModel
import Glibc
import Logging
import Storage
import System
import TestSupport
import Testing

@testable import LocalProvider

/// A random history of a pictures folder with real files, a watcher, an index and marks, compared with ``MarkModel``.
///
/// The folder `d` is a link to a disk, which is removed and comes back. The mount points are simulated.
final class FolderHistory {
    static let users = ["ada", "bob", "cleo"]
    static let folders = ["", "x", "y", "d"]

    private var random: SeededRandom
    /// True if edited photos are also moved, exchanged with their edits, and backed up under other names, if edits of
    /// metadata change the size, and if the index is also deleted while it is used. The other histories are those
    /// without these steps.
    let hasMoreSteps: Bool
    let directory: TemporaryDirectory
    private let users: Store
    private var index: Store
    private let threads: FileThreads
    private var marks: LocalMarks
    private var watcher: FolderWatcher
    /// The simulated mount points.
    private let mounted: Observed<Set<[UInt8]>>
    /// The changes that the watcher has reported by itself.
    private let reports = Observed<[FolderWatcher.Change]>()
    var model = MarkModel()
    /// The number of the content of each photo, by its path.
    var files: [String: Int] = [:]
    /// The photos that the last scan has found.
    var scanned: [String: Int] = [:]
    /// Their stamps at that time.
    private(set) var stamps: [String: FileStamp] = [:]
    /// The paths that have got or lost a file since then.
    var replaced: Set<String> = []
    /// Links to files outside of the pictures folder, and their targets.
    var links: [String: String] = [:]
    /// The time of the clock, which is sometimes set back.
    var clock = 1_000_000
    var lastContent = 0
    /// The number of deleted files.
    var deleted = 0
    /// The number of changes of the metadata of each content.
    var versions: [Int: Int] = [:]
    /// The contents that had a path, a size and a date, or an inode, a size and a date.
    var contents: [String: Int] = [:]
    var isPlugged = true
    /// True if the index was lost while the disk was not there.
    private var isDiskUnknown = false
    /// True before everything was scanned since the start.
    private var isNew = true
    /// True before the disk was scanned since it is back.
    private var isBack = false
    private(set) var log: [String] = []

    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init(_ seed: UInt64) async throws {
        random = SeededRandom(seed: seed)
        hasMoreSteps = seed % 3 == 1
        directory = try TemporaryDirectory()
        let path = directory.path
        for name in ["pictures", "pictures/x", "pictures/y", "disk", "outside", "trash"] {
            try check(mkdir("\(path)/\(name)", 0o700))
        }
        try check(symlink("\(path)/disk", "\(path)/pictures/d"))
        let mounted = Observed<Set<[UInt8]>>([Array("\(path)/disk".utf8)])
        threads = FileThreads(port: FileSystemPort(mountPoints: { mounted.value }))
        self.mounted = mounted
        users = Store("\(path)/users.sqlite", .disposable, [LocalProvider.format])
        try await users.run { database in
            for user in Self.users {
                try database.query(
                    "INSERT INTO user (key, name) VALUES (?, ?)", [.text(user), .text(user)])
            }
        }
        index = Store(
            "\(path)/cache/index.sqlite", .disposable, [PictureIndex.format], hasReader: true,
            logger: Self.logger)
        marks = LocalMarks(users, threads)
        watcher = FolderWatcher { [reports] in reports.append($0) }
    }

    /// Returns a description of the first difference from the model; nil if there was none.
    func run() async throws -> String? {
        for _ in 0..<number(3, 6) { try create(at: freePath()) }
        try await scan()
        for _ in 0..<number(4, 10) {
            for _ in 0..<number(1, 4) { try await step() }
            try await scan()
            if let failure = try await compare() { return failure }
            for _ in 0..<number(0, 3) { try await mark() }
            if let failure = try await compare() { return failure }
            if number(0, 2) == 0 {
                for _ in 0..<max(0, number(-2, 2)) { try await step() }
                try await edit()
                if let failure = try await compare() { return failure }
            }
        }
        return nil
    }

    // MARK: Choices

    func number(_ low: Int, _ high: Int) -> Int { Int.random(in: low...high, using: &random) }

    func anyPath() -> String {
        while true {
            let folder = Self.folders[number(0, 3)]
            if folder == "d", !isPlugged { continue }
            return (folder.isEmpty ? "" : folder + "/") + "IMG_\(number(1, 4)).jpg"
        }
    }

    func freePath() -> String {
        while true {
            let path = anyPath()
            if files[path] == nil, links[path] == nil { return path }
        }
    }

    /// Returns a photo that can be changed now.
    func usedPath() -> String? {
        files.keys.filter { isPlugged || !$0.hasPrefix("d/") }.sorted()
            .randomElement(using: &random)
    }

    func record(_ text: String) { log.append(text) }

    func absolute(_ path: String) -> String { directory.appending("pictures/\(path)") }

    /// The photos that the feed must have, with their contents.
    var present: [String: Int] { isDiskUnknown ? files.filter { !$0.key.hasPrefix("d/") } : files }

    // MARK: Daemon

    func restart(wipe: Bool) async throws {
        record(wipe ? "restart without index" : "restart")
        watcher.stop()
        _ = takeReports()
        watcher = FolderWatcher { [reports] in reports.append($0) }
        marks = LocalMarks(users, threads)
        isNew = true
        if wipe { deleteIndex() }
    }

    /// Deletes the index while the watcher records events.
    func deleteUsedIndex() {
        record("delete the index")
        deleteIndex()
    }

    private func deleteIndex() {
        index.close()
        for suffix in ["", "-wal"] { unlink(directory.appending("cache/index.sqlite\(suffix)")) }
        if !isPlugged { isDiskUnknown = true }
    }

    func setPlugged(_ isPlugged: Bool) async throws {
        // The photos that the feed must have would be unknown if the disk had changes that no scan has found.
        if !isPlugged { try await scan(mayStop: false) }
        record(isPlugged ? "plug" : "unplug")
        self.isPlugged = isPlugged
        let disk = directory.appending("disk")
        mounted.update { $0 = isPlugged ? [Array(disk.utf8)] : [] }
        let away = directory.appending("away")
        if isPlugged {
            rmdir(disk)
            try check(rename(away, disk))
            isDiskUnknown = false
            isBack = true
            // Until a scan has found the photos on the disk, an edit may look like another photo.
            replaced.formUnion(files.keys.filter { $0.hasPrefix("d/") })
            // Some file systems give other inode numbers at each mount.
            if number(0, 1) == 0 {
                record("other inodes")
                for path in files.keys.sorted() where path.hasPrefix("d/") { try renew(path) }
            }
        } else {
            try check(rename(disk, away))
            // udisks deletes the folder of the mount point, fstab keeps it.
            if number(0, 1) == 0 { try check(mkdir(disk, 0o700)) }
        }
    }

    private func takeReports() -> [FolderWatcher.Change] {
        var changes: [FolderWatcher.Change] = []
        reports.update { swap(&$0, &changes) }
        return changes
    }

    /// Scans the changes that the watcher has seen, or everything.
    private func scan(mayStop: Bool = true) async throws {
        try await marks.load()
        let root = Array(directory.appending("pictures").utf8)
        try await index.run { [marks] database in
            let index = PictureIndex(database)
            _ = try index.begin(root: root, .taken)
            try marks.begin(index)
        }
        try removeReplacements()
        watcher.readPendingEvents()
        var entries: [FolderWatcher.Entry]? = []
        for change in takeReports() + watcher.takeChanges() {
            switch change {
            case .everything: entries = nil
            case .entries(let more): entries = entries.map { $0 + more }
            case .rootAttributes, .mounts: continue
            }
        }
        // Other programs may use all inotify instances of the user.
        if number(0, 3) == 0 || isNew || watcher.exceededLimit != nil { entries = nil }
        // The kernel reports mounts, which are simulated here.
        if let some = entries {
            var unique = Dictionary(some.map { ($0.path, $0) }) { first, second in
                FolderWatcher.Entry(
                    path: first.path, isClosed: first.isClosed || second.isClosed,
                    hasOnlyAttributes: first.hasOnlyAttributes && second.hasOnlyAttributes)
            }
            let disk = RelativePath(bytes: Array("d".utf8))
            unique[disk] = FolderWatcher.Entry(path: disk)
            entries = Array(unique.values)
        }
        record(entries == nil ? "scan of everything" : "scan of changes")
        // A kill during the scan.
        var checks = mayStop && number(0, 9) == 0 ? number(1, 12) : Int.max
        let scan = FolderScan(
            root: root, index, PictureFiles(threads), watcher, marks,
            isStopped: {
                checks -= 1
                return checks < 0
            }, publish: { _ in })
        do {
            try scan.scan(entries)
            (isNew, isBack) = (false, false)
            scanned = files
            for path in files.keys { stamps[path] = FileStatus(Array(absolute(path).utf8))?.stamp }
            replaced = []
        } catch is CancellationError {
            record("kill")
            try await restart(wipe: false)
            try await self.scan(mayStop: false)
        }
    }

    /// Deletes new files at the paths of others. While no events are recorded, they would be edits of those, which
    /// ``edit()`` makes.
    private func removeReplacements() throws {
        func isReplacement(_ path: String, _ content: Int) -> Bool {
            (isNew || isBack && path.hasPrefix("d/")) && files[path].map { $0 != content } == true
                && (isPlugged || !path.hasPrefix("d/"))
                && files.values.count { $0 == content } < scanned.values.count { $0 == content }
        }
        // The deleted file may be a copy of another content.
        while let path = scanned.filter({ isReplacement($0.key, $0.value) }).keys.min() {
            try delete(path)
        }
    }

    // MARK: Marks

    private func photo(_ path: String) async throws -> PictureIndex.File {
        try await index.run { database in
            let found = try PictureIndex(database).file(at: RelativePath(bytes: Array(path.utf8)))
            let file = try #require(found?.file)
            try #require(file.format != nil)
            return file
        }
    }

    private func mark() async throws {
        guard let path = usedPath(), let content = files[path] else { return }
        let root = Array(directory.appending("pictures").utf8)
        let place = try await photo(path)
        let id = place.id
        let user = Self.users[number(0, 2)]
        model.contents[id] = content
        if model.contents.contains(where: { $0.value == content && marks.missing.contains($0.key) })
        {
            model.uncertain.insert(content)
        }
        if number(0, 2) == 0 {
            let missing = marks.missing
            let isHidden = model.hidden[user]?.contains(id) != true
            record("\(user) \(isHidden ? "hides" : "shows") \(path)")
            #expect(try await marks.set(isHidden, .hidden, by: user, below: root) { place })
            if isHidden {
                model.hidden[user, default: []].insert(id)
            } else {
                model.hidden[user]?.remove(id)
            }
            // Missing photos of the same content would restore the mark.
            for (other, known) in model.contents where known == content {
                if missing.contains(other) { model.hidden[user]?.remove(other) }
            }
        } else {
            let isLiked = !marks.rows(of: user).contains(id)
            record("\(user) \(isLiked ? "likes" : "unlikes") \(path)")
            let visible = model.visible(user, present.values)[content] ?? 0
            #expect(try await marks.set(isLiked, by: user, below: root) { place })
            model.likes[user, default: [:]][content] = isLiked ? visible + 1 : visible - 1
        }
    }

    /// Edits a file that the last scan has found, and scans.
    private func edit() async throws {
        guard let path = usedPath(), let before = files[path], scanned[path] == before,
            !replaced.contains(path),
            // If there are copies, the marks may belong to any of them.
            present.values.count(where: { $0 == before }) == 1,
            scanned.values.count(where: { $0 == before }) == 1
        else { return try await scan() }
        if number(0, 4) == 0 { try await restart(wipe: hasMoreSteps && number(0, 1) == 0) }
        if hasMoreSteps, number(0, 3) == 0 { deleteUsedIndex() }
        if hasMoreSteps, !isNew, !isBack, links[path] == nil, watcher.exceededLimit == nil,
            number(0, 1) == 0
        {
            return try await editOtherwise(path, before)
        }
        let isInPlace = number(0, 1) == 0
        clock += 1
        // The metadata of the file, or its image data as well.
        if number(0, 1) == 0 {
            record("edit the metadata of \(path)\(isInPlace ? " in place" : "")")
            versions[before, default: 0] += 1
            if !isInPlace, number(0, 1) == 0 { try delete(path) }
            try write(before, to: path, isInPlace: isInPlace)
            files[path] = before
            links[path] = isInPlace ? links[path] : nil
            try settle(path, isNew: !isInPlace)
            if hasMoreSteps, number(0, 1) == 0 { try move(path, freePath()) }
            try await scan()
            return
        }
        lastContent += 1
        let content = lastContent
        record("edit \(path)\(isInPlace ? " in place" : ""): \(content)")
        let backup = absolute(path) + "~"
        let hasBackup = !isInPlace && !isNew && !isBack && content % 3 == 0
        if hasBackup {
            record("back up \(path)")
            try check(rename(absolute(path), backup))
            // A scan may find the photo missing before the program writes the new file.
            files[path] = nil
            if content % 2 == 0 { try await scan(mayStop: false) }
        }
        try write(content, to: path, isInPlace: isInPlace)
        if hasBackup {
            keepInode(backup)
            try check(unlink(backup))
        }
        files[path] = content
        if !isInPlace { links[path] = nil }
        try settle(path, isNew: !isInPlace)
        scanned[path] = content
        try await scan()
        moveMarks(from: before, to: content)
    }

    /// Edits a file while events are recorded, and moves it, exchanges it with the edit, or leaves a backup for some time.
    private func editOtherwise(_ path: String, _ before: Int) async throws {
        clock += 1
        let kind = number(0, 2)
        if kind == 2 {
            record("edit the metadata of \(path) after a backup")
            versions[before, default: 0] += 1
            let backup = path + ".bak"
            try check(rename(absolute(path), absolute(backup)))
            files[backup] = before
            try write(before, to: path, isInPlace: number(0, 1) == 0)
            try settle(path, isNew: true)
            try await scan(mayStop: false)
            try delete(backup)
            return try await scan(mayStop: false)
        }
        lastContent += 1
        let content = lastContent
        if kind == 1 {
            let name = number(0, 1) == 0 ? ".exchanged" : "exchanged.jpg"
            let other = path.hasPrefix("d/") ? "d/\(name)" : name
            record("exchange \(path) with \(other): \(content)")
            try write(content, to: other, isInPlace: true)
            try PhotosFixture.exchange(absolute(path), absolute(other))
            files[path] = content
            try settle(path, isNew: true)
            keepInode(absolute(other))
            try check(unlink(absolute(other)))
            scanned[path] = content
        } else {
            record("edit \(path), which is then moved: \(content)")
            try write(content, to: path, isInPlace: number(0, 1) == 0)
            files[path] = content
            try settle(path, isNew: true)
            var other = freePath()
            while other.hasPrefix("d/") != path.hasPrefix("d/") { other = freePath() }
            try move(path, other)
            scanned[path] = nil
        }
        // After a kill, no events show what has happened.
        try await scan(mayStop: false)
        moveMarks(from: before, to: content)
    }

    /// Records that the photos of a content were edited.
    private func moveMarks(from before: Int, to content: Int) {
        for user in Self.users where (model.likes[user]?[before] ?? 0) > 0 {
            model.likes[user]?[before, default: 0] -= 1
            model.likes[user, default: [:]][content, default: 0] += 1
        }
        let edited = model.contents.filter { $0.value == before }.map(\.key)
        for id in edited where marks.contains(id) && !marks.missing.contains(id) {
            model.contents[id] = content
        }
    }

    // MARK: Comparison

    private func compare() async throws -> String? {
        let rows = try await index.run { database in
            var rows: [Int64: String] = [:]
            let index = PictureIndex(database)
            for file in try index.files("format > 0") {
                rows[file.id] = String(decoding: file.path.bytes, as: UTF8.self)
            }
            return rows
        }
        guard Set(rows.values) == Set(present.keys) else {
            return "the index has \(rows.values.sorted()), not \(present.keys.sorted())"
        }
        // A content on the disk that is not there cannot be compared with that of a missing photo.
        let unreadable = Set(files.filter { !isPlugged && $0.key.hasPrefix("d/") }.values)
        for user in Self.users {
            var shown: [Int: Int] = [:]
            for row in marks.rows(of: user) {
                let content = rows[row].flatMap { files[$0] } ?? -1
                if !unreadable.contains(content) { shown[content, default: 0] += 1 }
            }
            let wanted = model.visible(user, present.values).filter { !unreadable.contains($0.key) }
            guard shown == wanted else { return "\(user) sees likes of \(shown), not of \(wanted)" }
        }
        // Each ID stays with its content, and as many IDs are in use as there are files.
        let missing = marks.missing
        model.contents = model.contents.filter { marks.contains($0.key) }
        for (id, content) in model.contents {
            if let path = rows[id], files[path] != content {
                return "\(id) of content \(content) is \(path)"
            }
            let isMissing = rows[id] == nil
            guard isMissing == missing.contains(id) else {
                return "\(id) is \(isMissing ? "" : "not ")missing"
            }
            guard !unreadable.contains(content) else { continue }
            let ids = model.contents.filter { $0.value == content }.map(\.key)
            let found = ids.count { rows[$0] != nil }
            let copies = present.values.count { $0 == content }
            guard found == min(ids.count, copies) || model.uncertain.contains(content) else {
                return "\(found) of \(ids.count) IDs are in use for \(copies) copies"
            }
        }
        for (user, ids) in model.hidden {
            for id in ids where !marks.contains(id) {
                return "the photo \(id) that \(user) has hidden is forgotten"
            }
        }
        return nil
    }
}
