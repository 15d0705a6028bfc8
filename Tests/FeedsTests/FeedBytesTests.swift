import EngineModel
import ProviderKit
import Storage
import Testing

@testable import Feeds

/// The limit of the bytes that an account takes in the feed cache.
@Suite struct FeedBytesTests {
    private let account = AccountID(stored: "service_ada")
    private let database: Database
    private let tables: FeedTables
    private let now = Timestamp(secondsSince1970: 1_700_000_000)

    init() throws {
        database = try Database.inMemory([FeedStore.format])
        tables = FeedTables(
            database: database, account: account, bounds: FeedTables.Bounds(bytes: 1 << 20))
    }

    private func page(
        _ numbers: Range<Int>, isKeyed: Bool, isLiked: Bool = false, isLast: Bool = false
    ) -> RemotePage {
        .sample(numbers, isKeyed: isKeyed, isLiked: isLiked, isLast: isLast, bytes: 16 << 10)
    }

    private func store(
        _ page: RemotePage, in source: String = "new", _ part: FeedOrder.Part? = nil,
        at time: Timestamp? = nil
    ) throws -> FeedTables.Merge {
        try tables.store(
            FeedTables.Arrival(
                page: page, part: part, isExact: false, hasStablePageTokens: true,
                now: time ?? now),
            in: SourceID(source))
    }

    private func slice(
        _ source: String, below place: FeedPosition? = nil, count: Int = 1000
    ) throws -> (state: FeedTables.SourceState, slice: FeedOrder.Slice)? {
        guard let state = try tables.source(SourceID(source)) else { return nil }
        let slice = try tables.order(of: state.key).slice(
            in: state.generation, below: place, count: count, fresh: now...now)
        return (state, slice)
    }

    private func photoCount(_ condition: String = "1") throws -> Int? {
        try database.first("SELECT count(*) FROM photo WHERE \(condition)") { Int($0.integer(0)) }
    }

    @Test(arguments: [false, true])
    func `a walk that exceeds the limit loses its position, the top stays`(isKeyed: Bool) throws {
        _ = try store(page(0..<10, isKeyed: isKeyed))
        var walked = 10
        var isLost = false
        while !isLost, walked < 200 {
            guard let (_, slice) = try slice("new"), let gap = slice.gap else {
                Issue.record("there is no gap after \(walked) photos")
                return
            }
            #expect(slice.photos.map(\.photo.id.text) == (0..<walked).map { "p\($0)" })
            isLost = try store(page(walked..<walked + 10, isKeyed: isKeyed), gap).isLost
            walked += 10
            #expect(try tables.bytes() <= 1 << 20)
        }
        // 1 MiB has room for 63 photos.
        #expect(walked == 70)
        let (state, slice) = try #require(try slice("new"))
        let kept = slice.photos.count
        #expect(slice.photos.map(\.photo.id.text) == (0..<kept).map { "p\($0)" })
        #expect(30...50 ~= kept, "\(kept)")
        #expect(try photoCount() == kept)
        _ = try #require(slice.gap, "the rest is no gap")
        // A walk above the gap continues, and one below it is stale.
        let last = try #require(slice.keys.last)
        let above = FeedPosition(epoch: state.epoch, generation: state.generation - 1, key: last)
        #expect(state.holds(above))
        let below = FeedPosition(epoch: state.epoch, generation: state.generation - 1, key: "0")
        #expect(!state.holds(below))
    }

    @Test func `the sources that were fetched first go, and the one being read stays`() throws {
        for (index, source) in ["a", "b", "c", "d"].enumerated() {
            let first = index * 20
            _ = try store(
                page(first..<first + 20, isKeyed: true, isLast: true), in: source,
                at: now + .seconds(index))
            #expect(try tables.bytes() <= 1 << 20)
        }
        let counts = try ["a", "b", "c", "d"].map { try slice($0)?.slice.photos.count }
        #expect(counts == [nil, nil, 20, 20])
        #expect(try photoCount() == 40)
    }

    @Test func `photos that no source shows are forgotten first`() throws {
        _ = try store(page(0..<20, isKeyed: true, isLast: true))
        for photo in page(100..<200, isKeyed: false).photos {
            _ = try tables.photos.upsert(photo)
            try tables.limitBytes()
            #expect(try tables.bytes() <= 1 << 20)
        }
        #expect(try slice("new")?.slice.photos.count == 20)
    }

    @Test func `likes that the service reports are bounded, and likes of the user stay`() throws {
        let own = page(1000..<1010, isKeyed: false)
        for photo in own.photos {
            _ = try tables.photos.upsert(photo)
            _ = try tables.photos.setLiked(photo.photo.id, true, likes: nil, confirmed: now)
        }
        let later = now + .seconds(86_400)
        for round in 0..<20 {
            let first = round * 10
            _ = try store(
                page(first..<first + 10, isKeyed: true, isLiked: true, isLast: true), at: later)
            // The second response replaces the photos of the first one.
            #expect(try tables.bytes() <= 1 << 20)
        }
        #expect(try slice("new")?.slice.photos.count == 10)
        #expect(try photoCount("like_confirmed > 0 AND is_liked") == 10)
        #expect(try #require(try photoCount()) > 40)
    }

    @Test func `a photo that changes is counted once`() throws {
        for length in [10, 1000, 1] {
            var photo = Photo(id: PhotoID("p"))
            photo.title = String(repeating: "ü", count: length)
            _ = try tables.photos.upsert(RemotePhoto(photo))
            #expect(try tables.bytes() == 256 + 1 + 2 * length)
        }
        try tables.photos.remove(PhotoID("p"))
        #expect(try tables.bytes() == 0)
    }

    @Test func `a logout forgets the sums`() throws {
        _ = try store(page(0..<20, isKeyed: true))
        try tables.forget()
        #expect(try tables.bytes() == 0)
        let rows = try database.first("SELECT count(*) FROM account_bytes") { $0.integer(0) }
        #expect(rows == 0)
    }
}
