import Glibc
import TestSupport
import Testing

@testable import LocalProvider

@Suite(.timeLimit(.minutes(10))) struct FolderWatcherTests {
    @Test func `too many changes are reported as everything`() async throws {
        let (directory, watcher, changes, gate) = try await blockedWatcher()
        defer { watcher.stop() }
        for index in 0..<10_001 { symlink("x", directory.appending("\(index)")) }
        gate.open()
        try await changes.wait { changes in
            changes.contains { if case .everything = $0 { true } else { false } } ? true : nil
        }
    }

    /// Watches a folder. The first report blocks the queue of the watcher until the gate is opened, so that it reads the
    /// later events all at once.
    private func blockedWatcher() async throws -> (
        TemporaryDirectory, FolderWatcher, Observed<[FolderWatcher.Change]>, Gate
    ) {
        let (directory, gate) = (try TemporaryDirectory(), Gate())
        let changes = Observed<[FolderWatcher.Change]>()
        let watcher = FolderWatcher { change in
            changes.append(change)
            gate.wait()
        }
        watcher.watch(.root, at: Array(directory.path.utf8))
        symlink("x", directory.appending("first"))
        _ = try await changes.elements(1)
        return (directory, watcher, changes, gate)
    }

    @Test func `changed attributes of the pictures folder are not reported as everything`() throws {
        let directory = try TemporaryDirectory()
        let pictures = directory.appending("pictures")
        try check(mkdir(pictures, 0o700))
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
        // No report lies between the changes of the file.
        let (directory, watcher, changes, gate) = try await blockedWatcher()
        defer { watcher.stop() }
        try directory.write("x", to: "a")
        unlink(directory.appending("a"))
        let descriptor = open(directory.appending("a"), O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        fchmod(descriptor, 0o644)
        gate.open()
        let file = RelativePath(bytes: Array("a".utf8))
        let entry = try await changes.wait { changes in
            changes.lazy.compactMap { change -> FolderWatcher.Entry? in
                guard case .entries(let entries) = change else { return nil }
                return entries.first { $0.path == file }
            }.last
        }
        #expect(!entry.isClosed)
        #expect(watcher.isUnclosed(file))
    }

    @Test func `folders that appear while they are watched are seen or reported`() async throws {
        let directory = try TemporaryDirectory()
        let changes = Observed<[FolderWatcher.Change]>()
        let watcher = FolderWatcher { changes.append($0) }
        defer { watcher.stop() }
        for round in 0..<1600 {
            let folder = directory.appending("\(round)")
            let count = changes.value.count
            let pauses: [Int] = [round % 40, round / 40]
            let maker = Task.detached {
                for (pause, path) in zip(pauses, [folder, "\(folder)/a"]) {
                    let start = ContinuousClock.now
                    while ContinuousClock.now - start < .microseconds(pause) {}
                    mkdir(path, 0o700)
                }
            }
            watcher.watchTarget(of: .root, at: Array("\(folder)/a".utf8))
            let isSeen = access("\(folder)/a", F_OK) == 0
            await maker.value
            watcher.readPendingEvents()
            guard !isSeen, watcher.takeChanges().isEmpty else { continue }
            // The watcher is reading the event, or has reported it.
            _ = try await changes.elements(count + 1)
        }
    }
}
