import Glibc
import Logging
import System
import TestSupport
import Testing

@testable import LocalProvider

@Suite(.timeLimit(.minutes(10))) struct ReplacementEvidenceTests {
    private static let a = RelativePath(bytes: Array("folder/a.jpg".utf8))
    private static let folder = RelativePath(bytes: Array("folder".utf8))

    /// A pictures folder with a watcher whose reports are not scanned.
    private struct WatchedFolder {
        let fixture: PhotosFixture
        let reports = Observed<[FolderWatcher.Change]>()
        let watcher: FolderWatcher
        let database: PictureDatabase

        init() throws {
            fixture = try PhotosFixture(photos: ["a.jpg"])
            watcher = FolderWatcher { [reports] in reports.append($0) }
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            database = PictureDatabase(
                folder: fixture.directory.appending("index"), logger: logger)
        }

        /// Scans everything, or the entries of a report, and returns the number of replaced photos.
        func scan(_ entries: [FolderWatcher.Entry]? = nil) throws -> Int {
            var replaced = 0
            let scan = FolderScan(
                root: Array(fixture.root.utf8), database.writer, PictureFiles(FileThreads()),
                watcher, isStopped: { false }, publish: { replaced += $0.replaced.count })
            if let entries { try scan.scan(entries) } else { try scan.scanAll() }
            return replaced
        }

        /// Returns the entries of the report with a number.
        func entries(_ number: Int) async throws -> [FolderWatcher.Entry] {
            let change = try await reports.elements(number)[number - 1]
            guard case .entries(let entries) = change else { return [] }
            return entries
        }
    }

    @Test func `a scan between a report and the scan of its entries has the evidence`()
        async throws
    {
        let folder = try WatchedFolder()
        #expect(try folder.scan() == 0)
        try folder.fixture.add("a.jpg", seconds: 2_000_000)
        let first = try await folder.entries(1)
        #expect(try folder.scan() == 1)
        #expect(try folder.scan(first) == 0)
        // The evidence is used up: a file that was free since does not count as a replacement.
        unlink(folder.fixture.path("a.jpg"))
        try folder.fixture.add("a.jpg", seconds: 3_000_000)
        let second = try await folder.entries(2)
        #expect(try folder.scan() == 0)
        #expect(try folder.scan(second) == 0)
        try folder.fixture.add("a.jpg", seconds: 4_000_000)
        let third = try await folder.entries(3)
        #expect(try folder.scan(third) == 1)
    }

    @Test func `a later replacement does not hide that a name was free`() async throws {
        let folder = try WatchedFolder()
        #expect(try folder.scan() == 0)
        unlink(folder.fixture.path("a.jpg"))
        try folder.fixture.add("a.jpg", seconds: 2_000_000)
        _ = try await folder.entries(1)
        try folder.fixture.add("a.jpg", seconds: 3_000_000)
        let second = try await folder.entries(2)
        #expect(try folder.scan(second) == 0)
    }

    @Test func `a file whose folder was free is not a replacement`() {
        var evidence = ReplacementEvidence()
        evidence.record(Self.a, isFree: false)
        #expect(evidence.isReplacement(Self.a))
        evidence.record(Self.folder, isFree: true)
        #expect(!evidence.isReplacement(Self.a))
    }

    @Test func `lost events are no evidence until everything is scanned`() {
        var evidence = ReplacementEvidence()
        evidence.record(Self.a, isFree: false)
        evidence.recordLoss()
        evidence.endPeriod()
        evidence.endScan(begin: 1, [Self.a], except: [])
        evidence.record(Self.a, isFree: false)
        #expect(!evidence.isReplacement(Self.a))
        // The folder could not be read.
        evidence.endScan(begin: 1, nil, except: [Self.folder])
        #expect(!evidence.isReplacement(Self.a))
        evidence.endPeriod()
        evidence.endScan(begin: 2, nil, except: [])
        evidence.record(Self.a, isFree: false)
        #expect(evidence.isReplacement(Self.a))
    }

    // MARK: Simulation

    /// A reference model: all events of a file, and its last comparison by a scan that has ended.
    private struct FileModel {
        var events: [(isFree: Bool, period: Int)] = []
        /// The number of events before the comparison.
        var comparedEvents = 0
        /// The number of periods that had ended when the scan of the comparison began.
        var scanBegin = 0

        /// True if evidence is required, false if it is forbidden, nil if both are correct.
        var isReplacement: Bool? {
            let recent = events[comparedEvents...]
            guard !recent.contains(where: \.isFree) else { return false }
            // Events of a period that ended after the beginning of the scan count once more.
            let isExact = !events.contains { $0.isFree && $0.period > scanBegin }
            return isExact && !recent.isEmpty ? true : nil
        }
    }

    @Test func `evidence is exact for each order of events, reports and scans`() {
        for seed in Simulation.seeds(2_000) {
            var random = SeededRandom(seed: seed)
            var evidence = ReplacementEvidence()
            let paths = (0..<3).map { RelativePath(bytes: [UInt8(ascii: "a") + $0]) }
            var files = paths.map { _ in FileModel() }
            /// The beginning of the scan in progress, and the number of events before the comparison of each file.
            var scan: (begin: Int, compared: [Int: Int])?
            for _ in 0..<40 {
                let index = Int.random(in: 0..<paths.count, using: &random)
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    let isFree = Int.random(in: 0..<3, using: &random) == 0
                    evidence.record(paths[index], isFree: isFree)
                    files[index].events.append((isFree, evidence.endedPeriods + 1))
                case 2: evidence.endPeriod()
                case 3 where scan == nil: scan = (evidence.endedPeriods, [:])
                case 4: scan?.compared[index] = files[index].events.count
                case 5:
                    guard let (begin, compared) = scan else { continue }
                    scan = nil
                    evidence.endScan(begin: begin, compared.keys.map { paths[$0] }, except: [])
                    for (index, count) in compared {
                        files[index].comparedEvents = count
                        files[index].scanBegin = begin
                    }
                default: continue
                }
                for (path, file) in zip(paths, files) {
                    guard let expected = file.isReplacement else { continue }
                    #expect(evidence.isReplacement(path) == expected, "seed \(seed)")
                }
            }
        }
    }
}
