import ProviderKit
import Storage
import Testing

@testable import LocalProvider

@Suite struct PictureIndexTests {
    @Test(arguments: [PictureIndex.photosQuery(.all), PictureIndex.photosQuery(.folder(1))])
    func `a page is read from a covering index in its order`(query: String) throws {
        let plan = try Self.plan(query)
        #expect(plan.contains("SEARCH file USING COVERING INDEX"), "\(plan)")
    }

    @Test func `photos to be read are found with an index of their own`() throws {
        let plan = try Self.plan(PictureIndex.notExamined)
        #expect(plan.contains("USING INDEX file_not_examined"), "\(plan)")
    }

    @Test func `the paths of a folder on the disk are found with an index`() throws {
        let plan = try Self.plan(PictureIndex.foldersQuery)
        #expect(plan.contains("USING INDEX folder_by_inode"), "\(plan)")
    }

    /// Returns the only step of the plan of a query of the index.
    static func plan(_ query: String) throws -> String {
        let database = try Database.inMemory([PictureIndex.format])
        var plan: [String] = []
        try database.query("EXPLAIN QUERY PLAN " + query) { row throws(StorageError) in
            plan.append(row.text(3))
        }
        #expect(plan.count == 1)
        return plan.first ?? ""
    }

    @Test func `an index without the number of its last former position is damaged`() throws {
        let index = PictureIndex(try Database.inMemory([PictureIndex.format]))
        try index.database.execute("INSERT INTO meta VALUES ('forgotten', 5)")
        let position = PictureIndex.IndexPosition(position: 1, id: 1, lastFormerPosition: 0)
        #expect(throws: StorageError.damaged(":memory:")) {
            try index.page(.all, after: position, count: 1)
        }
    }

    @Test func `a date of capture that is too large is damage of the index`() throws {
        let index = PictureIndex(try Database.inMemory([PictureIndex.format]))
        #expect(throws: StorageError.damaged(":memory:")) {
            try index.position(1 << 40, FileStamp(inode: 1, sizeBytes: 1, modified: 1))
        }
    }

    @Test(arguments: [
        (0, "0000000000000000"), (-1, "ffffffffffffffff"),
        (0x0123_4567_89ab_cdef, "0123456789abcdef"), (Int64.min, "8000000000000000"),
    ])
    func `the ID of a row has 16 digits`(row: Int64, text: String) {
        #expect(PhotoID(row: row).text == text)
        #expect(PhotoID(text).row == row)
    }
}
