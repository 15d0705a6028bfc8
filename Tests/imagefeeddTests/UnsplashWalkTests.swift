import Contract
import DBus
import ServiceSimulator
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of walks through a feed that changes meanwhile.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(10))) @MainActor
struct UnsplashWalkTests {
    private static func isShown(_ photo: SimulatedPhoto) -> Bool {
        photo.kind == .photo && !photo.isPlus
    }

    @Test func `a walk through 3000 photos is complete while 500 are added and 50 deleted`()
        async throws
    {
        let fixture = try await UnsplashFixture(photoCount: 3_000)
        fixture.unsplash.settings.requestsPerHour = 100_000
        let ada = try await fixture.logIn("ada")
        let before = fixture.unsplash.feed
        var (found, vanished): ([String], Set<String>) = ([], [])
        var (arrivals, cursor) = (0, "")
        repeat {
            let (photos, next) = try await ada.page("", cursor: cursor, count: 60)
            #expect(!photos.isEmpty || next.isEmpty)
            found += photos.compactMap { $0["id"]?.string }
            cursor = next
            for _ in 0..<min(14, 500 - arrivals) {
                fixture.unsplash.publish()
                arrivals += 1
            }
            // Delete photos from all parts: shown ones and others.
            let step = vanished.count * 2_357 % before.count
            for index in [step, (step + 1_499) % before.count] where vanished.count < 50 {
                guard vanished.insert(before[index].id).inserted else { continue }
                fixture.unsplash.delete(before[index].id)
            }
            if arrivals % 5 == 0 { _ = try await ada.refresh("") }
        } while !cursor.isEmpty
        #expect(arrivals == 500 && vanished.count == 50)
        #expect(found.count == Set(found).count)
        let expected = before.filter(Self.isShown).map(\.id).filter { !vanished.contains($0) }
        let known = Set(expected)
        #expect(found.filter(known.contains) == expected)
        try await fixture.daemon.stop()
    }

    @Test func `a walk that continues after many new photos requests few pages`() async throws {
        let fixture = try await UnsplashFixture(photoCount: 200)
        let ada = try await fixture.logIn("ada")
        let before = fixture.unsplash.feed.filter(Self.isShown).map(\.id)
        let (photos, next) = try await ada.page("", cursor: "", count: 25)
        for _ in 0..<600 { fixture.unsplash.publish() }
        let count = fixture.requestCount
        let (more, _) = try await ada.page("", cursor: next, count: 100)
        let found = (photos + more).compactMap { $0["id"]?.string }
        #expect(found == Array(before.prefix(found.count)))
        #expect(found.count > 50)
        #expect(fixture.requestCount - count <= 8)
        try await fixture.daemon.stop()
    }
}
