import Glibc
import System
import TestSupport
import Testing

@testable import SlideshowCore

@Suite(.timeLimit(.minutes(10))) @MainActor struct ImageWatchTests {
    private let directory: TemporaryDirectory
    private let losses = Observed<[String]>([])
    private let watch = ImageWatch()
    private let other = ImageWatch()

    init() throws { directory = try TemporaryDirectory() }

    private func begin(_ name: String) {
        watch.watch(directory.appending(name)) { [losses] in losses.append(name) }
    }

    @Test func `a deleted file is lost, once`() async throws {
        try directory.write("x", to: "a")
        begin("a")
        unlink(directory.appending("a"))
        _ = try await losses.elements(1)
        // The same path can be watched again.
        begin("a")
        #expect(try await losses.elements(2) == ["a", "a"])
    }

    @Test func `a file that another one replaces is lost`() async throws {
        try directory.write("x", to: "a")
        begin("a")
        // The first replacement may be before the begin of the watch.
        try await poll {
            try directory.write("y", to: "b")
            rename(directory.appending("b"), directory.appending("a"))
            return losses.value == ["a"]
        }
    }

    @Test func `a file whose times change is not lost`() async throws {
        for name in ["a", "b"] { try directory.write("x", to: name) }
        other.watch(directory.appending("b")) { [losses] in losses.append("b") }
        begin("a")
        try await poll { watch.source != nil && other.source != nil }
        utimensat(AT_FDCWD, directory.appending("a"), nil, 0)
        unlink(directory.appending("b"))
        // An event of the first file would precede that of the second one.
        #expect(try await losses.elements(1) == ["b"])
        unlink(directory.appending("a"))
        #expect(try await losses.elements(2) == ["b", "a"])
    }

    @Test func `only the last file is watched`() async throws {
        for name in ["a", "b"] { try directory.write("x", to: name) }
        begin("a")
        begin("b")
        for name in ["a", "b"] { unlink(directory.appending(name)) }
        #expect(try await losses.elements(1) == ["b"])
    }
}
