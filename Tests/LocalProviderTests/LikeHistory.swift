import Glibc
import Logging
import ProviderKit
import Storage
import Synchronization
import System
import TestSupport
import Testing

@testable import LocalProvider

/// One random history.
final class LikeHistory {
    private static let users = ["ada", "bob", "cleo"]
    static let folders = ["", "x", "y"]

    private var random: SeededRandom
    private let database: DatabaseQueue
    private let seen = SimulatedFiles()
    var disk: SimulatedDisk
    private var likes: LocalLikes
    private var model = LikeModel()
    var files: [RelativePath: SimulatedFile] = [:]
    /// The time of the clock, which is sometimes set back.
    var clock: Int64 = 1_000_000_000_000
    var lastContent = 0
    var lastInode: Int64 = 0
    var freeInodes: [Int64] = []
    /// The changes since the last scan.
    var freed: Set<RelativePath> = []
    var touched: Set<RelativePath> = []
    private var wasRestarted = false
    /// The stamps of all files that were scanned.
    var stamps: Set<FileStamp> = []
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
            // An edit is recognized only if a scan has found the file before, and nothing else has changed since.
            if number(0, 3) == 0 {
                try await edit()
                try await compare()
                guard failure == nil else { return }
            }
        }
    }

    // MARK: Choices

    func number(_ low: Int, _ high: Int) -> Int {
        Int.random(in: low...high, using: &random)
    }

    func path(_ text: String) -> RelativePath { RelativePath(bytes: Array(text.utf8)) }

    func anyPath() -> RelativePath {
        let folder = Self.folders[number(0, 2)]
        return path((folder.isEmpty ? "" : folder + "/") + "IMG_\(number(1, 4)).jpg")
    }

    func freePath() -> RelativePath {
        while true {
            let path = anyPath()
            if files[path] == nil { return path }
        }
    }

    func usedPath() -> RelativePath? {
        files.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
            .randomElement(using: &random)
    }

    func record(_ text: String, _ paths: RelativePath...) {
        log.append(
            text + " "
                + paths.map { String(decoding: $0.bytes, as: UTF8.self) }
                .joined(separator: " → "))
    }

    // MARK: Daemon

    func restart(wipe: Bool) async throws {
        record(wipe ? "restart without index" : "restart")
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
        record(isWatched ? "scan of changes" : "scan of everything")
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
            record("kill")
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

    private func target(_ path: RelativePath) async throws -> LocalLikes.Target? {
        try await disk.index.run { database in
            let index = PictureIndex(database)
            guard let row = try index.candidate(at: path)?.row,
                let picture = try index.picture(row)
            else { return nil }
            return LocalLikes.Target(picture: picture, file: path.bytes)
        }
    }

    private func like() async throws {
        guard let path = usedPath(), let place = try await target(path), let file = files[path]
        else { return }
        let user = Self.users[number(0, 2)]
        let isLiked = !likes.rows(of: user).contains(place.picture.file.id)
        record("\(user) \(isLiked ? "likes" : "unlikes")", path)
        let visible = model.visible(user, files.values)[file.content] ?? 0
        #expect(try await likes.set(isLiked, by: user) { place })
        model.likes[user, default: [:]][file.content] = isLiked ? visible + 1 : visible - 1
    }

    /// Edits a file, and scans.
    private func edit() async throws {
        guard let path = usedPath(), var file = files[path] else { return }
        // If there are copies, the likes may belong to any of them.
        guard files.values.count(where: { $0.content == file.content }) == 1 else { return }
        let before = file
        let isInPlace = number(0, 1) == 0
        lastContent += 1
        file.content = lastContent
        clock += 1_000_000_007
        file.modified = tick()
        if isInPlace {
            record("edit in place", path)
        } else {
            record("edit", path)
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
