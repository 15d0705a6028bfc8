import Storage
import TestSupport
import Testing

@Suite struct DatabaseTests {
    @Test func `a file from a newer version is refused`() throws {
        let folder = try TemporaryDirectory()
        let path = "\(folder.path)/a.sqlite"
        let newer = try Database(path: path, durability: .process)
        try newer.migrate(["CREATE TABLE a (b)", "CREATE TABLE c (d)"])
        let older = try Database(path: path, durability: .process)
        #expect(throws: StorageError.newerVersion(path: path, found: 2, known: 1)) {
            try older.migrate(["CREATE TABLE a (b)"])
        }
    }
}
