import Glibc
import Logging
import ProviderKit
import Storage
import Synchronization
import System
import TestSupport
import Testing

@testable import LocalProvider

/// Random histories of a pictures folder with local likes, compared with a reference model.
@Suite(.timeLimit(.minutes(60))) struct LocalLikeSimulationTests {
    /// The number of histories at a time. Each waits for its databases most of the time.
    private static let concurrency = 4

    @Test func `each like follows its content`() async throws {
        let directory = try TemporaryDirectory()
        let seeds = Simulation.seeds(150, share: 10)
        let failures = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<Self.concurrency {
                let path = directory.appending("local\(number).sqlite")
                group.addTask {
                    try await Self.failure(
                        stride(
                            from: seeds.lowerBound + UInt64(number), to: seeds.upperBound,
                            by: Self.concurrency), path)
                }
            }
            var failures: [String] = []
            for try await failure in group { failures += [failure].compactMap(\.self) }
            return failures
        }
        #expect(failures == [], "\(failures.joined(separator: "\n\n"))")
    }

    /// Runs histories one after the other, up to the first that fails.
    ///
    /// - Parameters:
    ///   - seeds: The seeds of the histories.
    ///   - path: The path of the database of the likes.
    /// - Returns: A description of the failure; nil if there was none.
    /// - Throws: `StorageError`.
    private static func failure(
        _ seeds: some Sequence<UInt64>, _ path: String
    ) async throws -> String? {
        let database = DatabaseQueue(label: "likes") {
            let database = try Database(path: path, durability: .process)
            try database.migrate(LocalUserDatabase.migrations)
            return database
        }
        for seed in seeds {
            let history = try await History(seed, database)
            try await history.run()
            guard let failure = history.failure else { continue }
            return "\(failure) with seed \(seed) after:\n\(history.log.joined(separator: "\n"))"
        }
        return nil
    }
}

/// A file of the simulated disk.
private struct SimulatedFile: Equatable {
    var content: Int
    var inode: Int64
    var birth: Int64?
    var modified: Int64
    var changed: Int64
    /// The number of a capture time; photos of a burst have the same one.
    var taken: Int64?

    /// Few sizes, so that many files have the same one.
    var size: Int64 { Int64(content % 3 + 1) }

    var stamp: FileStamp { FileStamp(inode: inode, sizeBytes: size, modified: modified) }

    var digest: FileDigest {
        FileDigest(
            bytes: Array("\(content)".utf8), stamp: stamp, birth: birth, changed: changed,
            taken: taken.map { CaptureTime(seconds: $0, fraction: "") })
    }
}

/// The files of the simulated disk, as the provider reads them.
private final class SimulatedFiles: Sendable {
    private let files = Mutex<[RelativePath: SimulatedFile]>([:])

    func set(_ files: [RelativePath: SimulatedFile]) { self.files.withLock { $0 = files } }

    func digest(_ path: RelativePath) -> FileDigest? { files.withLock { $0[path]?.digest } }
}

/// The simulated disk and the index of it.
private final class SimulatedDisk: PictureSearch {
    let files: SimulatedFiles
    let index: DatabaseQueue

    init(_ files: SimulatedFiles) {
        self.files = files
        index = DatabaseQueue(label: "index") {
            let database = try Database(path: ":memory:", durability: .process)
            try database.migrate(PictureIndex.migrations)
            return database
        }
    }

    func inspect<Value: Sendable>(
        _ body: @escaping @Sendable (PictureIndex) throws -> Value
    ) async throws -> Value {
        try await index.run { try body(PictureIndex($0)) }
    }

    func store(_ contents: [Int64: FileDigest]) async {
        try? await index.run { database in
            for (row, content) in contents {
                try PictureIndex(database).setContent(content, of: row)
            }
        }
    }

    func digest(_ path: RelativePath, _ reader: DigestReader) async -> FileDigest? {
        files.digest(path)
    }
}

/// The reference model: for each user, the contents that are liked, each as often as it was liked.
///
/// A user sees as many likes of a content as there are files of it, and at most as many as there are likes.
private struct Model {
    var likes: [String: [Int: Int]] = [:]

    func visible(_ user: String, _ files: some Sequence<SimulatedFile>) -> [Int: Int] {
        var copies: [Int: Int] = [:]
        for file in files { copies[file.content, default: 0] += 1 }
        return (likes[user] ?? [:]).reduce(into: [:]) { visible, like in
            let count = min(like.value, copies[like.key] ?? 0)
            if count > 0 { visible[like.key] = count }
        }
    }
}

/// One random history.
private final class History {
    private static let users = ["ada", "bob", "cleo"]
    private static let folders = ["", "x", "y"]

    private var random: SeededRandom
    private let database: DatabaseQueue
    private let seen = SimulatedFiles()
    private var disk: SimulatedDisk
    private var likes: LocalLikes
    private var model = Model()
    private var files: [RelativePath: SimulatedFile] = [:]
    /// The clock, which is sometimes set back.
    private var clock: Int64 = 1_000_000_000_000
    private var lastContent = 0
    private var lastInode: Int64 = 0
    private var freeInodes: [Int64] = []
    /// The changes since the last scan.
    private var freed: Set<RelativePath> = []
    private var touched: Set<RelativePath> = []
    private var wasRestarted = false
    /// The stamps of all files that were scanned.
    private var stamps: Set<FileStamp> = []
    private(set) var log: [String] = []
    private(set) var failure: String?

    init(_ seed: UInt64, _ database: DatabaseQueue) async throws {
        random = SeededRandom(seed: seed)
        self.database = database
        try await database.run { database in
            try database.execute("DELETE FROM favourite; DELETE FROM liked; DELETE FROM user")
            for user in Self.users {
                try database.query(
                    "INSERT INTO user (key, name) VALUES (?, ?)", [.text(user), .text(user)])
            }
        }
        disk = SimulatedDisk(seen)
        likes = Self.likes(database, seen)
    }

    private static func likes(_ database: DatabaseQueue, _ files: SimulatedFiles) -> LocalLikes {
        LocalLikes(
            LocalLikeStore(database), FileThreads(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { path in
            files.digest(RelativePath(bytes: path))
        }
    }

    func run() async throws {
        for _ in 0..<number(3, 6) { create(at: freePath()) }
        try await scan(isWatched: false)
        for _ in 0..<number(4, 10) {
            for _ in 0..<number(1, 4) { try await step() }
            try await scan(isWatched: number(0, 2) > 0)
            try await compare()
            guard failure == nil else { return }
            for _ in 0..<number(0, 3) { try await like() }
            try await compare()
            guard failure == nil else { return }
            // Edits are recognized only where a scan has seen the file before and nothing else happened.
            if number(0, 3) == 0 {
                try await edit()
                try await compare()
                guard failure == nil else { return }
            }
        }
    }

    // MARK: Choices

    private func number(_ low: Int, _ high: Int) -> Int {
        Int.random(in: low...high, using: &random)
    }

    private func path(_ text: String) -> RelativePath { RelativePath(bytes: Array(text.utf8)) }

    private func anyPath() -> RelativePath {
        let folder = Self.folders[number(0, 2)]
        return path((folder.isEmpty ? "" : folder + "/") + "IMG_\(number(1, 4)).jpg")
    }

    private func freePath() -> RelativePath {
        while true {
            let path = anyPath()
            if files[path] == nil { return path }
        }
    }

    private func usedPath() -> RelativePath? {
        files.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
            .randomElement(using: &random)
    }

    private func note(_ text: String, _ paths: RelativePath...) {
        log.append(
            text + " "
                + paths.map { String(decoding: $0.bytes, as: UTF8.self) }
                .joined(separator: " → "))
    }

    // MARK: Files

    private func tick() -> Int64 {
        if number(0, 20) == 0 { clock -= 3_600_000_000_000 }
        // Times have a granularity: files that are written at once have the same one.
        if number(0, 2) > 0 { clock += 1_000_000_007 }
        return clock
    }

    private func inode() -> Int64 {
        // Some file systems use the inodes of deleted files again at once.
        if let free = freeInodes.popLast(), number(0, 1) == 0 {
            // A file is not created at the same time as the former one.
            clock += 1_000_000_007
            return free
        }
        lastInode += 1
        return lastInode
    }

    private func newFile(_ content: Int, taken: Int64?) -> SimulatedFile {
        let inode = inode()
        let now = tick()
        return SimulatedFile(
            content: content, inode: inode, birth: now, modified: now, changed: now, taken: taken)
    }

    private func newContent() -> (content: Int, taken: Int64?) {
        lastContent += 1
        // Some photos have no capture time.
        return (lastContent, lastContent % 3 == 0 ? nil : Int64(lastContent))
    }

    private func free(_ path: RelativePath) {
        freed.insert(path)
        touched.insert(path)
    }

    private func create(at path: RelativePath) {
        note("create", path)
        let (content, taken) = newContent()
        files[path] = newFile(content, taken: taken)
        free(path)
    }

    private func delete(_ path: RelativePath) {
        note("delete", path)
        if let file = files.removeValue(forKey: path) {
            if !files.values.contains(where: { $0.inode == file.inode }) {
                freeInodes.append(file.inode)
            }
        }
        free(path)
    }

    private func move(_ from: RelativePath, _ to: RelativePath) {
        guard from != to, var file = files[from] else { return }
        note("move", from, to)
        // The name is free for a moment, as with renumbering.
        if files[to] != nil { delete(to) }
        file.changed = tick()
        files[from] = nil
        files[to] = file
        free(from)
        free(to)
    }

    private func copy(_ from: RelativePath, _ to: RelativePath, keepsTime: Bool) {
        guard let file = files[from], from != to else { return }
        note("copy", from, to)
        if files[to] != nil { delete(to) }
        var copy = newFile(file.content, taken: file.taken)
        if keepsTime { copy.modified = file.modified }
        // A file with the inode, size and date of an earlier one is taken for it, see `LikedFile`.
        while stamps.contains(copy.stamp) { copy.modified += 1 }
        files[to] = copy
        free(to)
    }

    private func step() async throws {
        switch number(0, 15) {
        case 0, 1: create(at: files.count < 10 ? freePath() : anyPathReplaced())
        case 2, 3: if let path = usedPath() { delete(path) }
        // Another photo reuses the name.
        case 4, 5:
            if let path = usedPath() {
                delete(path)
                create(at: path)
            }
        case 6, 7: if let path = usedPath() { move(path, anyPath()) }
        case 8: if let path = usedPath() { copy(path, anyPath(), keepsTime: number(0, 1) == 0) }
        case 9: if files.count < 12, let path = usedPath() { copyAway(path) }
        case 10: renumber()
        case 11: moveFolder()
        case 12: if let path = usedPath() { touch(path) }
        case 13: swap()
        case 14: try await restart(wipe: false)
        default: try await restart(wipe: number(0, 1) == 0)
        }
    }

    private func anyPathReplaced() -> RelativePath {
        let path = anyPath()
        if files[path] != nil { delete(path) }
        return path
    }

    /// Moves a file by copying it, as between disks.
    private func copyAway(_ path: RelativePath) {
        copy(path, freePath(), keepsTime: true)
        delete(path)
    }

    private func touch(_ path: RelativePath) {
        note("touch", path)
        files[path]?.modified = tick()
        touched.insert(path)
    }

    /// Closes the gaps in the numbers of a folder.
    private func renumber() {
        let folder = Self.folders[number(0, 2)]
        var next = 1
        for number in 1...4 {
            let prefix = folder.isEmpty ? "" : folder + "/"
            let from = path("\(prefix)IMG_\(number).jpg")
            guard files[from] != nil else { continue }
            if number != next { move(from, path("\(prefix)IMG_\(next).jpg")) }
            next += 1
        }
    }

    private func moveFolder() {
        for number in 1...4 {
            let (from, to) = (path("x/IMG_\(number).jpg"), path("y/IMG_\(number).jpg"))
            if files[from] != nil, files[to] == nil { move(from, to) }
        }
    }

    private func swap() {
        guard let a = usedPath(), let b = usedPath(), a != b else { return }
        note("swap", a, b)
        (files[a], files[b]) = (files[b], files[a])
        free(a)
        free(b)
    }

    // MARK: The daemon

    private func restart(wipe: Bool) async throws {
        note(wipe ? "restart without index" : "restart")
        likes = Self.likes(database, seen)
        wasRestarted = true
        if wipe {
            disk = SimulatedDisk(seen)
            try await likes.resetLocations()
        }
    }

    /// Scans the disk as `FolderScan` does, and reconciles the likes.
    private func scan(isWatched: Bool) async throws {
        let isWatched = isWatched && !wasRestarted
        note(isWatched ? "scan of changes" : "scan of everything")
        let now = files
        seen.set(now)
        stamps.formUnion(now.values.map(\.stamp))
        let replaced = isWatched ? touched.subtracting(freed) : []
        let changes = try await disk.index.run { database in
            try Self.scan(now, replaced, PictureIndex(database))
        }
        freed = []
        touched = []
        wasRestarted = false
        likes.recordReplacements(changes)
        // A kill between the scan and the reconciliation.
        if number(0, 15) == 0 {
            note("kill")
            likes = Self.likes(database, seen)
            await likes.reconcile(nil, disk) { _, _ in }
            return
        }
        await likes.reconcile(isWatched ? changes : nil, disk) { _, _ in }
    }

    private static func scan(
        _ files: [RelativePath: SimulatedFile], _ replaced: Set<RelativePath>, _ index: PictureIndex
    ) throws -> IndexChanges {
        var changes = IndexChanges()
        var vanished: [PictureIndex.File] = []
        let order = files.sorted { $0.value.modified > $1.value.modified }
        for (path, file) in order {
            guard let (parent, name) = path.split else { continue }
            let folder = try index.addFolder(parent, device: 1, inode: Int64(parent.bytes.count))
            let known = try index.file(folder: folder, name: name)
            guard known?.stamp != file.stamp else { continue }
            var moved: PictureIndex.File?
            if known?.stamp.inode != file.inode {
                moved = try index.files(stamp: file.stamp).first { former in
                    let place = try? index.folderPath(former.folder)?.appending(former.name)
                    return place.flatMap { files[$0]?.inode } != file.inode
                }
            }
            if let moved {
                if let displaced = try index.move(moved, folder: folder, name: name) {
                    vanished.append(displaced)
                }
                changes.changed.insert(moved.id)
            } else if let known {
                try index.update(known, file.stamp, .jpeg)
                changes.changed.insert(known.id)
                if replaced.contains(path) { changes.replaced.insert(known.id) }
            } else {
                try index.insert(folder: folder, path: path, name: name, file.stamp, .jpeg)
                changes.new[parent, default: 0] += 1
            }
        }
        for (id, path) in try index.folders(at: .root) {
            try index.files(folder: id) { file throws(StorageError) in
                if files[path.appending(file.name)] == nil { vanished.append(file) }
            }
        }
        for file in vanished {
            guard let row = try index.file(file.id), row.folder == file.folder,
                row.name == file.name
            else { continue }
            try index.delete(file.id)
            changes.removed.append(file.id)
        }
        return changes
    }

    // MARK: Likes

    private func place(_ path: RelativePath) async throws -> LocalLikes.Place? {
        try await disk.index.run { database in
            let index = PictureIndex(database)
            guard let row = try index.candidate(at: path)?.row,
                let picture = try index.picture(row)
            else { return nil }
            return LocalLikes.Place(picture: picture, file: path.bytes)
        }
    }

    private func like() async throws {
        guard let path = usedPath(), let place = try await place(path), let file = files[path]
        else { return }
        let user = Self.users[number(0, 2)]
        let isLiked = !likes.rows(of: user).contains(place.picture.file.id)
        note("\(user) \(isLiked ? "likes" : "unlikes")", path)
        let visible = model.visible(user, files.values)[file.content] ?? 0
        #expect(try await likes.set(isLiked, by: user) { place })
        model.likes[user, default: [:]][file.content] = isLiked ? visible + 1 : visible - 1
    }

    /// Edits a file, and scans.
    private func edit() async throws {
        guard let path = usedPath(), var file = files[path] else { return }
        // With copies, the likes may be at either of them.
        guard files.values.count(where: { $0.content == file.content }) == 1 else { return }
        let before = file
        let isInPlace = number(0, 1) == 0
        lastContent += 1
        file.content = lastContent
        clock += 1_000_000_007
        file.modified = tick()
        if isInPlace {
            note("edit in place", path)
        } else {
            note("edit", path)
            file.inode = inode()
            file.modified = clock
            file.birth = clock
        }
        file.changed = file.modified
        if number(0, 3) == 0 { file.taken = nil }
        let isWatched = !wasRestarted && number(0, 1) == 0
        files[path] = file
        touched.insert(path)
        // A kill loses the evidence of the watcher.
        let isKept = before.taken != nil && file.taken != nil || isInPlace || isWatched
        let isCertain = before.taken != nil && file.taken != nil || isInPlace
        try await scan(isWatched: isWatched)
        let wasKilled = log.last?.hasPrefix("kill") == true
        guard isCertain || isKept && !wasKilled else { return }
        for user in Self.users where (model.likes[user]?[before.content] ?? 0) > 0 {
            model.likes[user]?[before.content, default: 0] -= 1
            model.likes[user, default: [:]][file.content, default: 0] += 1
        }
    }

    // MARK: Comparison

    private func compare() async throws {
        let likes = likes
        for user in Self.users {
            let rows = likes.rows(of: user)
            let paths = try await disk.index.run { database in
                try rows.compactMap { try PictureIndex(database).picture($0)?.path }
            }
            var shown: [Int: Int] = [:]
            for path in paths { shown[files[path]?.content ?? -1, default: 0] += 1 }
            let expected = model.visible(user, files.values)
            guard paths.count == rows.count, shown == expected else {
                failure = "\(user) sees likes of \(shown), not of \(expected)"
                return
            }
        }
    }
}
