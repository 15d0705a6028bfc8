import Dispatch
import Glibc
import TestSupport
import Testing

@testable import System

struct FileTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func contents(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        return Array(bytes[..<max(0, read(descriptor, &bytes, bytes.count))])
    }

    private func names() throws -> Set<String> {
        Set(try DirectoryListing(folder.appending("files")).names)
    }

    // MARK: Atomic writes

    @Test(arguments: [0, 1, 100_000], [true, false])
    func `a file is created and replaced`(_ count: Int, _ isDurable: Bool) throws {
        let path = folder.appending("file")
        let old = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(Glibc.write(old, "old", 3) == 3)
        let bytes = [UInt8](repeating: 7, count: count)
        try writeAtomically(
            bytes, to: path, through: "\(path).part", mode: 0o640, isDurable: isDurable)
        #expect(contents(path) == bytes)
        #expect(contents("\(path).part") == nil)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
        // A process that has the old file open still reads the old contents.
        var byte = [UInt8](repeating: 0, count: 8)
        #expect(pread(old, &byte, 8, 0) == 3)
        close(old)
    }

    @Test func `a file that a killed process left is replaced`() throws {
        let path = folder.appending("file")
        // The target of the link must not be written.
        let other = folder.appending("other")
        try writeAtomically([1], to: other, through: "\(other).part")
        #expect(symlink(other, "\(path).part") == 0)
        try writeAtomically([2], to: path, through: "\(path).part")
        #expect(contents(path) == [2])
        #expect(contents(other) == [1])
    }

    @Test func `a failure leaves the old file and no part`() throws {
        let path = folder.appending("folder")
        #expect(mkdir(path, 0o700) == 0)
        #expect(throws: FileError(code: EISDIR)) {
            try writeAtomically([1], to: path, through: "\(path).part")
        }
        #expect(contents("\(path).part") == nil)
        #expect(throws: FileError(code: ENOENT)) {
            try writeAtomically([1], to: path, through: folder.appending("missing/part"))
        }
    }

    // MARK: DirectoryListing

    @Test func `a listing has all names and kinds`() throws {
        let path = folder.appending("files")
        #expect(mkdir(path, 0o700) == 0)
        #expect(try DirectoryListing(path).entries.isEmpty)
        try writeAtomically([], to: "\(path)/.hidden", through: "\(path)/part")
        #expect(mkdir("\(path)/folder", 0o700) == 0)
        #expect(symlink("missing", "\(path)/link") == 0)
        #expect(mkfifo("\(path)/pipe", 0o600) == 0)
        let invalid = Array("\(path)/".utf8) + [0xff, 0]
        let descriptor = invalid.map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { open($0, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) } ?? -1
        }
        close(descriptor)
        let entries = try DirectoryListing(path).entries
        let kinds = Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0.kind) })
        #expect(
            kinds == [
                Array(".hidden".utf8): .file, Array("folder".utf8): .directory,
                Array("link".utf8): .link, Array("pipe".utf8): .other, [0xff]: .file,
            ])
        #expect(try names() == [".hidden", "folder", "link", "pipe"])
    }

    @Test func `a directory that cannot be opened is an error`() {
        #expect(throws: FileError(code: ENOENT)) {
            try DirectoryListing(folder.appending("missing"))
        }
        #expect(throws: FileError(code: ENOTDIR)) { try DirectoryListing("/dev/null") }
    }

    // MARK: DispatchQueue

    @Test func `work on a queue runs in order and returns its result or its error`() async throws {
        let queue = DispatchQueue(label: "test")
        let order = Observed<[Int]>([])
        queue.async { order.append(1) }
        let value = await queue.run {
            order.append(2)
            return order.value.count
        }
        #expect(value == 2)
        await #expect(throws: FileError(code: 5)) {
            try await queue.run { () throws(FileError) in throw FileError(code: 5) }
        }
    }
}
