import Glibc
import Storage
import TestSupport
import Testing

@Suite struct PrivateFolderTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func mode(_ name: String) -> UInt32 {
        var status = stat()
        return stat(folder.appending(name), &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test func `a new folder and its new ancestors are accessible only to the user`() throws {
        try createPrivateFolder(folder.appending("a/b/c"))
        #expect(["a", "a/b", "a/b/c"].map(mode) == [0o700, 0o700, 0o700])
    }

    @Test func `the mode of an existing folder is restricted and that of its ancestors is not`()
        throws
    {
        try folder.write("", to: "a/b/file")
        chmod(folder.appending("a"), 0o755)
        chmod(folder.appending("a/b"), 0o755)
        try createPrivateFolder(folder.appending("a/b"))
        #expect(["a", "a/b"].map(mode) == [0o755, 0o700])
    }

    @Test(arguments: ["file", "file/below", "file/below/deep"])
    func `a file at the path of a folder is reported`(name: String) throws {
        try folder.write("", to: "file")
        #expect { try createPrivateFolder(folder.appending(name)) } throws: { error in
            if case StorageError.cannotOpen = error { true } else { false }
        }
    }

    @Test func `the reason is that of the folder that could not be created`() throws {
        let name = String(repeating: "x", count: 300)
        let path = folder.appending("\(name)/below")
        #expect(throws: StorageError.cannotOpen(path, "File name too long")) {
            try createPrivateFolder(path)
        }
    }
}
