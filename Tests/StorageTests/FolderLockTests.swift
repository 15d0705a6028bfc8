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
        guard case .inUse = first.attempt() else {
            Issue.record("the folder was locked twice")
            return
        }
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

    @Test(arguments: ["", "0 host\n", "x y z\n", "99999999 \n"])
    func `a holder with unreadable text is unknown`(text: String) throws {
        let path = folder.appending("data")
        let first = FolderLock(folder: path)
        #expect(first.attempt() == .held)
        truncate("\(path)/imagefeedd.lock", 0)
        let file = open("\(path)/imagefeedd.lock", O_WRONLY)
        write(file, text, text.utf8.count)
        close(file)
        #expect(FolderLock(folder: path).attempt() == .inUse(processID: nil, host: nil))
    }

    @Test func `a holder on another host is reported by its host name`() throws {
        let path = folder.appending("data")
        let first = FolderLock(folder: path)
        #expect(first.attempt() == .held)
        let file = open("\(path)/imagefeedd.lock", O_WRONLY | O_TRUNC)
        write(file, "1 elsewhere\n", 12)
        close(file)
        #expect(FolderLock(folder: path).attempt() == .inUse(processID: nil, host: "elsewhere"))
    }

    @Test func `a folder that cannot be created is unavailable`() throws {
        try folder.write("", to: "file")
        guard case .unavailable = FolderLock(folder: folder.appending("file/data")).attempt()
        else {
            Issue.record("the folder was locked")
            return
        }
    }
}
