import EngineModel
import ProviderKit
import TestSupport
import Testing

@testable import LocalProvider

/// The order by capture time.
@Suite(.timeLimit(.minutes(10))) struct OrderTests {
    private static let dates: [(String, String?)] = [
        ("x/b.jpg", "2024-01-01"), ("x/a.jpg", "2025-01-01"), ("x/old.jpg", nil),
        ("x/c.jpg", "2019-01-01"),
    ]

    @Test(arguments: [SourceID.all, SourceID("album:x")])
    func `photos are ordered by the time of capture, or of change`(source: SourceID) async throws {
        let fixture = try await MemoriesFixture.examined(Self.dates, today: "2026-11-22")
        let photos = fixture.photos
        let titles = ["a", "b", "c", "old"]
        #expect(try await photos.titles(source) == titles)
        #expect(try await photos.photos(source, pageSize: 1).map { $0.title ?? "" } == titles)
        let created = try await photos.photos(source).compactMap(\.created)
        #expect(created == created.sorted().reversed())
    }

    @Test(arguments: [nil, "modified"], [4_039_372_800, 0])
    func `an impossible modification time is replaced`(order: String?, seconds: Int) async throws {
        let now = Timestamp.now.secondsSince1970
        let fixture = try await PhotosFixture.ready(["old.jpg"])
        fixture.provider.change(LocalSettings(order: order))
        try fixture.add("unknown.jpg", seconds: seconds)
        try fixture.add("new.jpg", seconds: Int(now) + 3600)
        try await fixture.shows(["new", "unknown", "old"])
        let photo = try await fixture.photos()[1]
        for time in [photo.created, photo.updated] {
            #expect(abs((time?.secondsSince1970 ?? 0) - now) < 600)
        }
        fixture.provider.change(LocalSettings(order: order == nil ? "modified" : nil))
        try await fixture.shows(["new", "unknown", "old"])
    }

    @Test func `the setting changes the order, and walks begin again`() async throws {
        let fixture = try await MemoriesFixture.examined(Self.dates, today: "2026-11-22")
        let photos = fixture.photos
        let cursor = try await photos.session.page(.all, after: nil, count: 1).next
        photos.provider.change(LocalSettings(order: "modified"))
        try await photos.shows(["c", "old", "a", "b"])
        await #expect(throws: ProviderError.staleCursor) {
            try await photos.session.page(.all, after: cursor, count: 1)
        }
        photos.provider.change(LocalSettings(order: nil))
        try await photos.shows(["a", "b", "c", "old"])
    }

    @Test func `a copied photo of an earlier year is reported in its place`() async throws {
        let fixture = try await MemoriesFixture.examined(Self.dates, today: "2026-11-22")
        let photos = fixture.photos
        fixture.images.facts.update { $0["new.jpg"] = MemoriesFixture.facts("2020-06-01") }
        let before = photos.events.value.count
        try photos.add("x/new.jpg", seconds: 1_700_000_000)
        try await photos.updated(SourceID("album:x"), new: 1, after: before)
        #expect(try await photos.titles() == ["a", "b", "new", "c", "old"])
        let updates = photos.events.value.dropFirst(before).filter {
            $0.isUpdate(.all, 0) || $0.isUpdate(.all, 1)
        }
        #expect(updates.count == 1)
    }

    @Test func `a corrected date moves the photo, and a walk returns it once`() async throws {
        let fixture = try await MemoriesFixture.examined(Self.dates, today: "2026-11-22")
        let photos = fixture.photos
        let first = try await photos.session.page(.all, after: nil, count: 2)
        let before = photos.events.value.count
        try await fixture.redate("x/a.jpg", "2018-01-01", seconds: 5_000_000)
        try await fixture.redate("x/c.jpg", "2026-01-01", seconds: 5_000_001)
        try await photos.updated(.all, new: 0, after: before)
        #expect(try await photos.titles() == ["c", "b", "a", "old"])
        let rest = try await photos.session.page(.all, after: first.next, count: 9)
        #expect((first.photos + rest.photos).map { $0.title ?? "" } == ["a", "b", "c", "old"])
    }

    @Test(arguments: ["2030-01-01", "1970-01-01 0:0"])
    func `an impossible date counts as unknown`(date: String) async throws {
        let fixture = try await MemoriesFixture.examined(
            [("a.jpg", "2020-01-01"), ("b.jpg", date)], today: "2026-11-22")
        let photos = try await fixture.photos.photos()
        #expect(photos.map { $0.title ?? "" } == ["a", "b"])
        #expect(photos.last?.created?.secondsSince1970 == 1_000_001)
        #expect(try await fixture.titles().isEmpty)
    }
}
