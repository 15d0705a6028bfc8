import EngineModel
import ProviderKit
import Testing

@testable import BusService
@testable import DBus

@Suite struct PreparedPageCacheTests {
    private static let all = SourceID("all")
    private static let album = SourceID("album:a")
    private let now = Timestamp(secondsSince1970: 1_800_000_000)

    private func key(
        _ source: SourceID = all, cursor: String = "", count: UInt32 = 30
    ) -> PreparedPageCache.Key {
        PreparedPageCache.Key(source: source, cursor: cursor, count: count)
    }

    private func reply() throws -> PreparedReply { try PreparedReply("") }

    @Test func `a page is found until something changes`() throws {
        var pages = PreparedPageCache()
        let reply = try reply()
        pages.store(reply, key(), requestedAt: 0, isWanted: true)
        #expect(pages.find(key(), now: now)?.template === reply.template)
        #expect(pages.find(key(count: 31), now: now) == nil)
        #expect(pages.find(key(Self.album), now: now) == nil)
        #expect(pages.change(of: Self.album).isEmpty)
        #expect(pages.find(key(), now: now) != nil)
        _ = pages.change(of: Self.all)
        #expect(pages.find(key(), now: now) == nil)
        pages.store(reply, key(), requestedAt: pages.changes, isWanted: true)
        pages.changeOfPhotos()
        #expect(pages.find(key(), now: now) == nil)
        pages.store(reply, key(), requestedAt: pages.changes, isWanted: true)
        pages.removeAll()
        #expect(pages.find(key(), now: now) == nil)
    }

    @Test func `a page requested before a change is not cached`() throws {
        var pages = PreparedPageCache()
        let before = pages.changes
        pages.changeOfPhotos()
        pages.store(try reply(), key(), requestedAt: before, isWanted: true)
        #expect(pages.find(key(), now: now) == nil)
    }

    @Test func `only the most recent pages are cached`() throws {
        var pages = PreparedPageCache()
        for count in 0...PreparedPageCache.limit {
            pages.store(try reply(), key(count: UInt32(count)), requestedAt: 0, isWanted: true)
        }
        #expect(pages.find(key(count: 0), now: now) == nil)
        for count in 1...PreparedPageCache.limit {
            #expect(pages.find(key(count: UInt32(count)), now: now) != nil)
        }
    }

    @Test func `the replies of an account have 2 MiB at most`() throws {
        var pages = PreparedPageCache()
        let text = String(repeating: "x", count: 700 << 10)
        for count in 1...3 as ClosedRange<UInt32> {
            pages.store(try PreparedReply(text), key(count: count), requestedAt: 0, isWanted: true)
            #expect(pages.bytes <= PreparedPageCache.maximumBytes)
        }
        #expect(pages.find(key(count: 1), now: now) == nil)
        #expect(pages.find(key(count: 2), now: now) != nil)
        #expect(pages.find(key(count: 3), now: now) != nil)
        let large = try PreparedReply(text, text, text)
        #expect(large.bytes > PreparedPageCache.maximumBytes)
        pages.store(large, key(count: 2), requestedAt: 0, isWanted: true)
        #expect(pages.find(key(count: 2), now: now) == nil)
        #expect(pages.find(key(count: 3), now: now) != nil)
        pages.discardReplies()
        #expect(pages.bytes == 0)
        #expect(pages.change(of: Self.all) == [key(count: 3)])
    }

    @Test func `the accounts with the largest replies discard them when all have too much`() {
        let accounts = (0..<4).map { AccountID(stored: "service_\($0)") }
        let half = PreparedPageCache.maximumTotalBytes / 2
        func largest(_ sizes: [Int]) -> [AccountID] {
            PreparedPageCache.largest(
                of: Dictionary(uniqueKeysWithValues: zip(accounts, sizes)), keeping: accounts[0])
        }
        #expect(largest([half, half, 0, 0]) == [])
        #expect(largest([half, 3, half, 2]) == [accounts[2]])
        #expect(largest([half, half, half + 1, half]).count == 2)
        #expect(largest([4 * half, 1, 2, 3]) == [accounts[3], accounts[2], accounts[1]])
    }

    @Test func `a change returns a requested first page once per request`() throws {
        var pages = PreparedPageCache()
        pages.store(try reply(), key(), requestedAt: 0, isWanted: true)
        pages.store(try reply(), key(cursor: "c"), requestedAt: 0, isWanted: true)
        pages.store(try reply(), key(Self.album), requestedAt: 0, isWanted: true)
        pages.changeOfPhotos()
        #expect(pages.change(of: Self.all) == [key()])
        pages.store(try reply(), key(), requestedAt: pages.changes, isWanted: false)
        // No client has requested it since.
        #expect(pages.change(of: Self.all).isEmpty)
        pages.store(try reply(), key(), requestedAt: pages.changes, isWanted: false)
        #expect(pages.find(key(), now: now) != nil)
        #expect(pages.change(of: Self.all) == [key()])
    }

    @Test(arguments: ["", "c"])
    func `a page of a remote account expires after five minutes`(cursor: String) throws {
        var pages = PreparedPageCache()
        let key = key(cursor: cursor)
        pages.store(try reply(), key, requestedAt: 0, isWanted: true, now: now)
        #expect(pages.find(key, now: now + .seconds(299)) != nil)
        #expect(pages.find(key, now: now + .seconds(300)) == nil)
        // The clock was set back.
        #expect(pages.find(key, now: now + .seconds(-1)) == nil)
        pages.store(try reply(), key, requestedAt: 0, isWanted: true, now: now + .seconds(300))
        #expect(pages.find(key, now: now + .seconds(301)) != nil)
        // A page of local photos.
        pages.store(try reply(), key, requestedAt: 0, isWanted: true)
        #expect(pages.find(key, now: now + .seconds(86_400)) != nil)
    }
}
