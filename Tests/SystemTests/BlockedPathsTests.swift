import Testing

@testable import System

/// Times are nanoseconds.
struct BlockedPathsTests {
    private static let minute: UInt64 = 60_000_000_000

    private func path(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func blocked(at path: String) -> BlockedPaths {
        var paths = BlockedPaths(FileThreads.Limits())
        paths.root = Array("/photos".utf8)
        paths.add(Array(path.utf8), thread: 1, at: 0)
        return paths
    }

    @Test func `a job starts below no blocked path`() {
        let paths = blocked(at: "/photos/a")
        #expect(!paths.permits(path("/photos/a"), at: 1))
        #expect(!paths.permits(path("/photos/a/b"), at: 1))
        #expect(paths.permits(path("/photos/ab"), at: 1))
        #expect(paths.permits(path("/photos"), at: 1))
    }

    @Test func `one job per retry interval starts at a blocked path`() {
        var paths = blocked(at: "/photos/a")
        let times: [UInt64] = [Self.minute, Self.minute, 2 * Self.minute]
        let starts = times.map { paths.admit(path("/photos/a"), at: $0) }
        #expect(starts == [true, false, true])
    }

    @Test func `the interval is four times as long for each further thread at the path`() {
        var paths = blocked(at: "/photos/a")
        paths.add(path("/photos/a"), thread: 2, at: Self.minute)
        #expect(!paths.permits(path("/photos/a"), at: 5 * Self.minute - 1))
        #expect(paths.permits(path("/photos/a"), at: 5 * Self.minute))
    }

    @Test func `a folder is unavailable after two blocked files`() {
        var paths = blocked(at: "/photos/a/1")
        #expect(paths.permits(path("/photos/a/3"), at: 1))
        paths.add(path("/photos/a/2"), thread: 2, at: 0)
        #expect(!paths.permits(path("/photos/a/3"), at: 1))
        #expect(!paths.permits(path("/photos/a/b/4"), at: 1))
        #expect(paths.permits(path("/photos/b/3"), at: 1))
    }

    @Test func `a path is available after its threads returned`() {
        var paths = blocked(at: "/photos/a")
        #expect(paths.threadCount == 1)
        let wasBlocked = paths.remove(thread: 1)
        #expect(wasBlocked)
        let isBlockedAgain = paths.remove(thread: 1)
        #expect(!isBlockedAgain)
        #expect(paths.permits(path("/photos/a"), at: 1))
    }

    @Test func `a suspended path is available again after the retry interval`() {
        var paths = BlockedPaths(FileThreads.Limits())
        paths.suspend(path("/photos/a"), at: 0)
        #expect(!paths.permits(path("/photos/a"), at: Self.minute - 1))
        #expect(paths.permits(path("/photos/a"), at: Self.minute))
    }
}
