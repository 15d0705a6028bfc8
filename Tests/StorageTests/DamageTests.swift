import FoundationEssentials
import Glibc
import Logging
import LoopbackHTTP
import Storage
import TestSupport
import Testing

/// Random damages of the files of stores, before they are opened and while they are used.
///
/// To repeat a damage, set `IMAGEFEED_SEED=SEED IMAGEFEED_HISTORIES=1`.
@Suite(.timeLimit(.minutes(10))) struct DamageTests {
    private static let accounts = 8
    private static let photos = 150

    private enum Damage: CaseIterable {
        case bit, block, truncation, version, schema, missing, alien, fifo, empty
    }

    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func store(_ path: String, isDurable: Bool, hasReader: Bool = false) -> Store {
        Store(
            path, isDurable ? .durable : .disposable, testFormats,
            hasReader: hasReader, logger: logger)
    }

    private func names(_ folder: TemporaryDirectory) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending("data"))
    }

    private func fill(_ store: Store) throws {
        try store.runAndWait { database in
            try database.transaction { () throws(StorageError) in
                for number in 0..<Self.accounts { try database.add(account: "account \(number)") }
                for number in 0..<Self.accounts {
                    try database.add(photos: 0..<Self.photos, of: "account \(number)")
                }
            }
        }
    }

    private func damage(_ path: String, _ damage: Damage, _ random: inout SeededRandom) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        switch damage {
        case .bit:
            bytes[Int.random(in: bytes.indices, using: &random)] ^=
                1 << UInt8.random(in: 0..<8, using: &random)
        case .block:
            let start = Int.random(in: bytes.indices, using: &random)
            for index in start..<min(start + 512, bytes.count) {
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
        case .truncation: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
        case .version, .schema:
            let database = try Database(path: path, isDurable: true)
            try database.execute(
                damage == .version
                    ? "UPDATE format SET version = \([-1, 0, 2, 9].randomElement(using: &random) ?? 0)"
                    : "DROP TABLE \(["liked", "setting", "format"].randomElement(using: &random) ?? "")"
            )
            return
        case .missing: return #expect(unlink(path) == 0)
        case .alien: bytes = (0..<9000).map { _ in UInt8.random(in: 0...255, using: &random) }
        case .fifo:
            unlink(path)
            return #expect(mkfifo(path, 0o600) == 0)
        case .empty: bytes = []
        }
        // In place, as damage of a disk.
        let file = open(path, O_WRONLY)
        defer { close(file) }
        #expect(ftruncate(file, off_t(bytes.count)) == 0)
        #expect(pwrite(file, bytes, bytes.count, 0) == bytes.count)
    }

    /// Returns the rows that SQLite itself can read of a file, from both ends.
    private func readable(_ path: String) -> Set<String> {
        var found: Set<String> = []
        guard let database = try? Database(path: path, isDurable: true) else { return [] }
        for order in ["ASC", "DESC"] {
            try? database.query("SELECT account, photo FROM liked ORDER BY number \(order)") {
                row throws(StorageError) in found.insert("\(row.text(0)) \(row.text(1))")
            }
        }
        return found
    }

    @Test func `a store starts after each damage, and everything that can be read is kept`()
        async throws
    {
        var (kept, total) = (0, 0)
        for seed in Simulation.seeds(700) {
            // Other tests have time limits.
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let folder = try TemporaryDirectory()
            let path = folder.appending("data/data.sqlite")
            do { try fill(store(path, isDurable: true)) }
            let kind = Damage.allCases.randomElement(using: &random) ?? .bit
            try damage(path, kind, &random)
            let copy = folder.appending("copy.sqlite")
            if kind != .fifo { try? FileManager.default.copyItem(atPath: path, toPath: copy) }
            let store = store(path, isDurable: true)
            let rows = try store.runAndWait { database in
                Set(
                    try database.all("SELECT account, photo FROM liked") {
                        "\($0.text(0)) \($0.text(1))"
                    })
            }
            total += 1
            let isNewer = store.notices.contains { "\($0)".contains("newer version") }
            if !isNewer, kind != .fifo, access(copy, F_OK) == 0 {
                // Rows without their account do not fit.
                let accounts = try store.runAndWait {
                    try $0.all("SELECT id FROM account") { $0.text(0) }
                }
                let lost = readable(copy).subtracting(rows).filter { row in
                    accounts.contains { row.hasPrefix("\($0) photo ") }
                }
                #expect(lost.isEmpty, "seed \(seed), \(kind): \(lost.count) of \(rows.count)")
                if rows.count > 0 { kept += 1 }
            }
            // The store can be used, or says why not.
            do {
                try store.add(account: "new")
            } catch { #expect(kind == .fifo && !store.notices.isEmpty, "seed \(seed), \(kind)") }
            store.close()
            if kind != .fifo {
                let names = try names(folder)
                #expect(names.count <= 3 && names.contains("data.sqlite"), "seed \(seed): \(names)")
                let isNamed = !store.notices.isEmpty || names.count == 1
                #expect(isNamed, "seed \(seed), \(kind): \(names)")
            }
        }
        print("Damages: \(total), with rows that were kept: \(kept)")
        #expect(kept > total / 3)
    }

    @Test func `a store continues after damage while it is used`() async throws {
        for seed in Simulation.seeds(200) {
            // Other tests have time limits.
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let folder = try TemporaryDirectory()
            let path = folder.appending("data/data.sqlite")
            let store = store(path, isDurable: true)
            try fill(store)
            let kind =
                [Damage.bit, .block, .truncation, .missing, .alien].randomElement(using: &random)
                ?? .bit
            try damage(path, kind, &random)
            for number in 0..<3 {
                try store.add(account: "new \(number)")
                _ = try store.count("liked")
            }
            store.close()
            let again = self.store(path, isDurable: true)
            let added = try again.runAndWait {
                try $0.integer("SELECT count(*) FROM account WHERE id LIKE 'new%'")
            }
            #expect(added == 3, "seed \(seed), \(kind)")
        }
    }

    @Test func `a disposable file is created again after each damage`() async throws {
        for seed in Simulation.seeds(300) {
            // Other tests have time limits.
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let folder = try TemporaryDirectory()
            let path = folder.appending("cache/cache.sqlite")
            let hasReader = Bool.random(using: &random)
            do { try fill(store(path, isDurable: false, hasReader: hasReader)) }
            let kind = Damage.allCases.randomElement(using: &random) ?? .bit
            try damage(path, kind, &random)
            if Bool.random(using: &random) {
                try folder.write("x", to: "cache/cache.sqlite-shm")
                try folder.write("garbage", to: "cache/cache.sqlite-wal")
            }
            let store = store(path, isDurable: false, hasReader: hasReader)
            for attempt in 0..<3 {
                do {
                    try store.runAndWait { database in
                        _ = try database.all("SELECT * FROM liked") { $0.text(1) }
                        try database.add(account: "new")
                    }
                    break
                } catch StorageError.damaged where attempt < 2 {}
            }
            #expect(
                try store.runAndWait { try $0.exists("SELECT 1 FROM account WHERE id = 'new'") })
            #expect(FileManager.default.fileExists(atPath: path), "seed \(seed), \(kind)")
        }
    }

    @Test func `a killed process has stored what it was told, with the journal alone`() throws {
        for seed in Simulation.seeds(200) {
            let folder = try TemporaryDirectory()
            let path = folder.appending("data/data.sqlite")
            let store = store(path, isDurable: true)
            try store.add(account: "a")
            let count = Int(seed % 7) + 1
            for photo in 0..<count { try store.add(photos: photo..<photo + 1, of: "a") }
            // A copy of the open files has the state after a kill.
            try FileManager.default.createDirectory(
                atPath: folder.appending("copy"), withIntermediateDirectories: false)
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(
                    atPath: path + suffix, toPath: folder.appending("copy/data.sqlite\(suffix)"))
            }
            chmod(folder.appending("copy"), 0o700)
            if seed % 2 == 0 { unlink(folder.appending("copy/data.sqlite-journal")) }
            let killed = self.store(folder.appending("copy/data.sqlite"), isDurable: true)
            #expect(try killed.count("liked") == count, "seed \(seed)")
            #expect(killed.notices.isEmpty)
            store.close()
            #expect(try names(folder) == ["data.sqlite"])
            #expect(try self.store(path, isDurable: true).count("liked") == count)
        }
    }
}
