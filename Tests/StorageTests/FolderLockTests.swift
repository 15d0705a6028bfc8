import Glibc
import Storage
import TestSupport
import Testing

@Suite struct FolderLockTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func `a locked folder is in use until it is released`() throws {
        let path = folder.appending("data")
        let first = FolderLock(folder: path)
        let second = FolderLock(folder: path)
        #expect(first.attempt() == .held)
        #expect(first.attempt() == .held)
        #expect(second.attempt() == .inUse(processID: getpid(), host: nil))
        first.release()
        #expect(second.attempt() == .held)
        #expect(first.attempt() == .inUse(processID: getpid(), host: nil))
    }

    @Test func `the lock is released with its last reference`() throws {
        let path = folder.appending("data")
        do { #expect(FolderLock(folder: path).attempt() == .held) }
        #expect(FolderLock(folder: path).attempt() == .held)
    }

    @Test func `a child process does not hold the lock`() async throws {
        let path = folder.appending("data")
        let first = FolderLock(folder: path)
        #expect(first.attempt() == .held)
        let child = try ChildProcess("/bin/sleep", ["1000"], environment: folder.environment)
        first.release()
        #expect(FolderLock(folder: path).attempt() == .held)
        child.kill(SIGKILL)
        #expect(try await child.exitStatus() == .signal(SIGKILL))
    }

    @Test(arguments: [
        ("", nil), ("0 host\n", nil), ("x y z\n", nil), ("99999999 \n", nil),
        ("1 elsewhere\n", "elsewhere"),
    ])
    func `a holder on another host is reported by its host name, and unreadable text is unknown`(
        text: String, host: String?
    ) throws {
        let path = folder.appending("data")
        let first = FolderLock(folder: path)
        #expect(first.attempt() == .held)
        let file = open("\(path)/imagefeedd.lock", O_WRONLY | O_TRUNC)
        write(file, text, text.utf8.count)
        close(file)
        #expect(FolderLock(folder: path).attempt() == .inUse(processID: nil, host: host))
    }

    @Test func `a folder that cannot be created is unavailable`() throws {
        try folder.write("", to: "file")
        let result = FolderLock(folder: folder.appending("file/data")).attempt()
        let isUnavailable = if case .unavailable = result { true } else { false }
        #expect(isUnavailable, "\(result)")
    }
}
