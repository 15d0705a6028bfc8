import EngineModel
import ProviderKit
import Storage
import Testing

@testable import Feeds

/// The number of database operations of merges and reads.
@Suite struct FeedCostTests {
    private let account = AccountID(stored: "service_ada")
    private let source = SourceID("new")
    private let now = Timestamp(secondsSince1970: 1_700_000_000)

    /// Counts the operations of a merge of 40 photos, and of a read of the last 40, in a source of a size.
    private func operations(_ count: Int, isKeyed: Bool) throws -> Int {
        let database = try Database.inMemory([FeedStore.format])
        let tables = FeedTables(database: database, account: account)
        func store(_ page: RemotePage) throws -> FeedTables.Merge {
            try tables.store(
                FeedTables.Arrival(
                    page: page, part: nil, isExact: false, hasStablePageTokens: true, now: now),
                in: source)
        }
        _ = try store(.sample(1000..<1000 + count, isKeyed: isKeyed, isLast: true))
        var state = try #require(try tables.source(source))
        let last = try tables.order(of: state.key).slice(
            in: state.generation, below: nil, count: count, fresh: now...now)
        let position = FeedPosition(
            epoch: state.epoch, generation: state.generation, key: last.keys[count - 41])
        let before = database.operationCount
        // 20 photos are new, and the service has removed 10.
        var arrived = RemotePage.sample(980..<1030, isKeyed: isKeyed)
        arrived.photos.removeSubrange(25..<35)
        #expect(try store(arrived).new == 20)
        state = try #require(try tables.source(source))
        let slice = try tables.order(of: state.key).slice(
            in: state.generation, below: position, count: 40, fresh: now...now)
        #expect(slice.photos.count == 40)
        return database.operationCount - before
    }

    @Test(arguments: [false, true])
    func `the time of a merge does not depend on the size of the source`(isKeyed: Bool) throws {
        let small = try operations(200, isKeyed: isKeyed)
        let large = try operations(4200, isKeyed: isKeyed)
        // The limit of the number of entries is checked in one pass.
        #expect(large - small < 20 * 4000, "\(small), then \(large)")
    }
}
