import Glibc
import TestSupport
import Testing

@testable import LocalProvider

@Suite(.timeLimit(.minutes(10))) struct FolderWatcherTests {
    @Test func `too many changes are reported as everything`() async throws {
        let directory = try TemporaryDirectory()
        let changes = Observed<[FolderWatcher.Change]>()
        // The first report blocks the queue of the watcher, which then reads the later events all at once.
        let gate = Gate()
        defer { gate.open() }
        let watcher = FolderWatcher { change in
            changes.append(change)
            gate.wait()
        }
        defer { watcher.stop() }
        watcher.watch(.root, at: Array(directory.path.utf8))
        symlink("x", directory.appending("first"))
        _ = try await changes.elements(1)
        for index in 0..<10_001 { symlink("x", directory.appending("\(index)")) }
        gate.open()
        try await changes.wait { changes in
            changes.contains { if case .everything = $0 { true } else { false } } ? true : nil
        }
    }

    @Test func `changed attributes of the pictures folder are not reported as everything`() throws {
        let directory = try TemporaryDirectory()
        let pictures = directory.appending("pictures")
        try PhotosFixture.check(mkdir(pictures, 0o700))
        let watcher = FolderWatcher { _ in }
        defer { watcher.stop() }
        watcher.watchTarget(of: .root, at: Array(pictures.utf8))
        watcher.watch(.root, at: Array(pictures.utf8))
        chmod(pictures, 0o755)
        watcher.readPendingEvents()
        let changes = watcher.takeChanges()
        #expect(changes.count == 1)
        #expect(changes.allSatisfy { if case .rootAttributes = $0 { true } else { false } })
    }

    @Test func `a file that is created again is not closed`() async throws {
        let directory = try TemporaryDirectory()
        let changes = Observed<[FolderWatcher.Change]>()
        // The first report blocks the queue of the watcher, so that no report lies between the changes of the file.
        let gate = Gate()
        defer { gate.open() }
        let watcher = FolderWatcher { change in
            changes.append(change)
            gate.wait()
        }
        defer { watcher.stop() }
        watcher.watch(.root, at: Array(directory.path.utf8))
        symlink("x", directory.appending("first"))
        _ = try await changes.elements(1)
        try directory.write("x", to: "a")
        unlink(directory.appending("a"))
        let descriptor = open(directory.appending("a"), O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        fchmod(descriptor, 0o644)
        gate.open()
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
