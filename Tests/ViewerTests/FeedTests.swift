import Contract
import DBus
import TestSupport
import Testing

@testable import Viewer

@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct FeedTests {
    /// Returns a feed of the photos of a fake daemon.
    private func makeFeed(_ daemon: FakeDaemon) async throws -> (feed: Feed, service: Service) {
        let service = Service(try PrivateBus.current.connect())
        service.start()
        try await poll { service.state == .ready }
        return (Feed(service, account: FakeDaemon.account, source: "all"), service)
    }

    private func wait(for feed: Feed, until isReached: (Feed.State) -> Bool) async throws {
        try await poll { isReached(feed.state) }
    }

    private func hasFailed(_ state: Feed.State) -> Bool {
        if case .failed = state { true } else { false }
    }

    @Test func `a search that failed is repeated, and continues to the end`() async throws {
        let daemon = try await FakeDaemon(photos: 150)
        let (base, service) = try await makeFeed(daemon)
        daemon.error = .serviceFailed
        let search = Feed(service, searching: base, "sea")
        try await wait(for: search, until: hasFailed)
        daemon.error = nil
        search.loadMore()
        try await wait(for: search) { $0 == .complete }
        #expect(search.photos.map(\.id) == daemon.ids)
    }

    @Test func `a search finds all photos if others leave meanwhile`() async throws {
        let daemon = try await FakeDaemon(photos: 150)
        let (base, service) = try await makeFeed(daemon)
        daemon.onPage = { cursor in
            guard cursor == "photo 59" else { return }
            daemon.ids.removeFirst(2)
            service.event.emit((FakeDaemon.account, .photosRemoved(["photo 0", "photo 1"])))
        }
        let search = Feed(service, searching: base, "sea")
        try await wait(for: search) { $0 == .complete }
        #expect(search.photos.map(\.id) == daemon.ids)
        #expect(search.index(of: "photo 149") == 147)
    }

    @Test func `a search finds each photo once if the searched photos are loaded again`()
        async throws
    {
        let daemon = try await FakeDaemon(photos: 150)
        let (base, service) = try await makeFeed(daemon)
        let search = Feed(service, searching: base, "sea")
        try await wait(for: search) { $0 == .complete }
        daemon.ids.insert("new", at: 0)
        base.reload()
        #expect(search.state == .loading)
        try await wait(for: search) { $0 == .complete }
        #expect(search.photos.map(\.id) == daemon.ids)
        #expect(search.index(of: "photo 149") == 150)
    }

    @Test func `a search remains complete if photos leave afterwards`() async throws {
        let daemon = try await FakeDaemon(photos: 700)
        let (base, service) = try await makeFeed(daemon)
        let search = Feed(service, searching: base, "sea")
        try await wait(for: search) { $0 == .complete }
        #expect(search.photos.count == 600)
        service.event.emit((FakeDaemon.account, .photosRemoved(["photo 0"])))
        #expect(search.state == .complete)
        #expect(search.photos.count == 599)
    }

    @Test func `a restored photo returns to its place in a search`() async throws {
        let daemon = try await FakeDaemon(photos: 150)
        let (base, service) = try await makeFeed(daemon)
        let search = Feed(service, searching: base, "sea")
        try await wait(for: search) { $0 == .complete }
        let places = base.places(of: ["photo 7"])
        service.event.emit((FakeDaemon.account, .photosRemoved(["photo 7"])))
        #expect(search.index(of: "photo 7") == nil)
        #expect(search.base === base)
        base.restored = places
        service.event.emit((FakeDaemon.account, .updated(source: "all", new: 1)))
        try await poll { search.index(of: "photo 7") == 7 }
        #expect(search.photos.map(\.id) == daemon.ids)
    }

    @Test func `restored photos return to their places after others above them have left`()
        async throws
    {
        let daemon = try await FakeDaemon(photos: 150)
        let (feed, service) = try await makeFeed(daemon)
        feed.loadToEnd()
        try await wait(for: feed) { $0 == .complete }
        let ids = ["photo 149", "photo 7"]
        feed.restored = feed.places(of: ids)
        let others = ["photo 3", "photo 6", "photo 148"]
        daemon.ids.removeAll { others.contains($0) }
        service.event.emit((FakeDaemon.account, .photosRemoved(ids + others)))
        service.event.emit((FakeDaemon.account, .updated(source: "all", new: 2)))
        try await poll { feed.photos.map(\.id) == daemon.ids }
        try await poll { feed.restored.isEmpty }
        #expect(feed.newCount == 0)
    }

    @Test func `a photo that leaves while its page is being read does not return`() async throws {
        let daemon = try await FakeDaemon(photos: 90)
        let (feed, service) = try await makeFeed(daemon)
        daemon.onPage = { cursor in
            let id = cursor.isEmpty ? "photo 5" : "photo 80"
            service.event.emit((FakeDaemon.account, .photosRemoved([id])))
        }
        feed.loadToEnd()
        try await wait(for: feed) { $0 == .complete }
        let others = daemon.ids.filter { !["photo 5", "photo 80"].contains($0) }
        #expect(feed.photos.map(\.id) == others)
        // It may come back afterwards.
        daemon.onPage = nil
        feed.reload()
        try await wait(for: feed) { $0 == .partial }
        #expect(feed.index(of: "photo 5") == 5)
    }

    @Test func `the end of a search is reached when all photos are searched`() async throws {
        let daemon = try await FakeDaemon(photos: 150)
        let (base, service) = try await makeFeed(daemon)
        let search = Feed(service, searching: base, "sea")
        var end: Int?
        search.findEnd { end = $0 }
        try await poll { end != nil }
        #expect(end == 149)
    }

    @Test func `a photo leaves a list of files and returns to its place`() async throws {
        let service = Service(try PrivateBus.current.connect())
        let photos = try ["/a.jpg", "/b.jpg", "/c.jpg"].map {
            try #require(Photo(["id": .string($0)]))
        }
        let list = Feed(service, account: ServiceName.root, photos: photos)
        let place = list.places(of: ["/b.jpg"])[0]
        list.remove(["/b.jpg"])
        #expect(list.photos.map(\.id) == ["/a.jpg", "/c.jpg"])
        list.insert(photos[1], at: place)
        list.insert(photos[1], at: place)
        #expect(list.photos == photos)
        #expect(list.index(of: "/c.jpg") == 2)
    }

    @Test func `a reload that failed is repeated from the top`() async throws {
        let daemon = try await FakeDaemon(photos: 150)
        let (feed, _) = try await makeFeed(daemon)
        feed.loadMore()
        try await wait(for: feed) { $0 == .partial }
        daemon.ids.insert("new", at: 0)
        daemon.error = .serviceFailed
        feed.reload()
        try await wait(for: feed, until: hasFailed)
        daemon.error = nil
        feed.loadMore()
        try await wait(for: feed) { $0 == .partial }
        #expect(feed.photos.map(\.id) == Array(daemon.ids.prefix(60)))
    }
}

/// A fake daemon with the account of a service, whose only source has photos of the sea.
@MainActor
private final class FakeDaemon {
    static let account = ServiceName.accounts.appending("unsplash_ada")
    /// The IDs of the photos.
    var ids: [String]
    /// The error of each page; nil for none.
    var error: ServiceError?
    /// Called with the cursor of each page before it is read.
    var onPage: ((String) -> Void)?
    private let connection: BusConnection
    private let tree: ObjectTree

    init(photos count: Int) async throws {
        ids = (0..<count).map { "photo \($0)" }
        connection = try PrivateBus.current.connect()
        tree = ObjectTree(connection, root: ServiceName.root) { ErrorReply(.failed, "\($0)") }
        let root = ExportedObject(ServiceName.root)
        root.add(Self.managerInterface, on: self)
        tree.export(root)
        let object = ExportedObject(Self.account)
        object.add(Self.accountInterface, on: self)
        object.add(Self.feedInterface, on: self)
        tree.export(object)
        tree.start()
        _ = try await connection.requestName(ServiceName.bus, replacing: false) {}
    }

    private static func photo(_ id: String) -> [String: Variant] {
        ["id": .string(id), "account": .objectPath(account), "title": .string("The Sea")]
    }

    /// Returns a page. The cursor is the ID of the last photo of the page before.
    private func page(_ cursor: String, _ count: UInt32) throws -> ([[String: Variant]], String) {
        onPage?(cursor)
        if let error { throw ErrorReply(error.name, "It did not work.") }
        let rest = cursor.isEmpty ? ids[...] : ids.drop { $0 != cursor }.dropFirst()
        let page = rest.prefix(Int(count))
        return (page.map(Self.photo), page.count < rest.count ? page.last ?? "" : "")
    }

    private static let managerInterface = BusInterface<FakeDaemon>(
        .manager, [.property("Online") { _ in true }])

    private static let accountInterface = BusInterface<FakeDaemon>(
        .account, [.property("State") { _ in "ready" }])

    private static let feedInterface = BusInterface<FakeDaemon>(
        .feed,
        [
            .method("GetPage", in: ["source", "cursor", "count"], out: ["photos", "next"]) {
                (daemon, _: String, cursor: String, count: UInt32) in
                try daemon.page(cursor, count)
            },
            .method("GetPhoto", in: ["photo"], out: ["properties"]) { (_, id: String) in
                photo(id)
            },
        ])
}
