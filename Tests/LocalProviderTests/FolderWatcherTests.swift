import Glibc
import TestSupport
import Testing

@testable import LocalProvider

@Suite(.timeLimit(.minutes(10))) struct FolderWatcherTests {
    @Test func `too many changes are reported as everything`() async throws {
        let directory = try TemporaryDirectory()
        let changes = Observed<[FolderWatcher.Change]>()
        let watcher = FolderWatcher { changes.append($0) }
        defer { watcher.stop() }
        watcher.watch(.root, at: Array(directory.path.utf8))
        for index in 0..<10_001 { symlink("x", directory.appending("\(index)")) }
        // On slow disks, several bursts may be reported before.
        for index in 10_001..<30_000 { symlink("x", directory.appending("\(index)")) }
        try await changes.wait { changes in
            changes.contains { if case .everything = $0 { true } else { false } } ? true : nil
        }
    }

    @Test func `a file that is created again is not closed`() async throws {
        let directory = try TemporaryDirectory()
        let changes = Observed<[FolderWatcher.Change]>()
        let watcher = FolderWatcher { changes.append($0) }
        defer { watcher.stop() }
        watcher.watch(.root, at: Array(directory.path.utf8))
        try directory.write("x", to: "a")
        unlink(directory.appending("a"))
        let descriptor = open(directory.appending("a"), O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        fchmod(descriptor, 0o644)
        let entry = try await changes.wait { changes in
            changes.lazy.compactMap { change -> FolderWatcher.Entry? in
                guard case .entries(let entries) = change else { return nil }
                return entries.first { $0.name == Array("a".utf8) }
            }.last
        }
        #expect(!entry.isClosed)
        #expect(watcher.isUnclosed(.root, Array("a".utf8)))
    }
}
