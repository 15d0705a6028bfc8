import ImageMetadata
import ProviderKit
import Storage
import Synchronization
import TestSupport
import Testing
import Translation

@testable import LocalProvider

/// Reading the metadata of photos in the background.
@Suite(.timeLimit(.minutes(10))) struct MetadataReaderTests {
    private let images = ScriptedImageProcessor()

    private func facts(_ taken: Int64? = nil) -> ImageFacts {
        ImageFacts(width: 4000, height: 3000, taken: taken.map { Timestamp(secondsSince1970: $0) })
    }

    @Test func `a page does not wait for metadata, and changed photos are reported`() async throws {
        images.facts.update { $0 = ["a.jpg": facts(500), "b.jpg": facts()] }
        images.isHeld.update { $0 = true }
        let fixture = try PhotosFixture(photos: ["a.jpg", "b.jpg"], images: images)
        let before = try await fixture.photos()
        #expect(before.map(\.title) == ["b", "a"])
        #expect(before.allSatisfy { $0.width == nil })
        images.isHeld.update { $0 = false }
        try await fixture.changed(before[1].id)
        let after = try await fixture.photos()
        #expect(after.map(\.width) == [4000, 4000] && after.map(\.height) == [3000, 3000])
        // The capture time, or else the modification time, which is the sort order.
        #expect(after.map(\.created?.secondsSince1970) == [1_000_001, 500])
        #expect(after.map(\.updated?.secondsSince1970) == [1_000_001, 1_000_000])
    }

    @Test func `a single photo is returned with its metadata`() async throws {
        images.facts.update { $0 = ["a.jpg": facts(500)] }
        let fixture = try PhotosFixture(photos: ["a.jpg"], images: images)
        let photo = try await fixture.session.photo(try await fixture.id("a"))
        #expect(photo.width == 4000 && photo.created?.secondsSince1970 == 500)
    }

    @Test func `metadata is stored until the file changes`() async throws {
        images.facts.update { $0 = ["a.jpg": facts()] }
        let fixture = try PhotosFixture(photos: ["a.jpg"], images: images)
        let id = try await fixture.id("a")
        _ = try await fixture.session.photo(id)
        fixture.session.close()
        let again = try PhotosFixture(fixture.directory, images: images)
        #expect(try await again.photos().map(\.width) == [4000])
        #expect(images.probed.value == ["a.jpg"])
        images.facts.update { $0 = ["a.jpg": ImageFacts(width: 1, height: 2)] }
        try await again.ready()
        try again.add("a.jpg", seconds: 2_000_000)
        try await again.become { try await again.photos().first?.width == 1 }
    }

    @Test func `a file without metadata is read once`() async throws {
        let fixture = try PhotosFixture(photos: ["a.jpg"], images: images)
        let id = try await fixture.id("a")
        for _ in 0..<3 { #expect(try await fixture.session.photo(id).width == nil) }
        #expect(images.probed.value == ["a.jpg"])
    }

    @Test func `metadata that a full disk cannot store is read again`() async throws {
        var facts = facts()
        facts.details.camera = String(repeating: "x", count: 100_000)
        images.facts.update { $0 = ["a.jpg": facts] }
        images.isHeld.update { $0 = true }
        let clock = ManualClock()
        let fixture = try PhotosFixture(photos: ["a.jpg"], images: images, clock: clock)
        try await fixture.ready()
        let store = fixture.session.folder.store
        try await store.run { try $0.execute("PRAGMA max_page_count = 1") }
        _ = try await fixture.photos()
        images.isHeld.update { $0 = false }
        try await fixture.event {
            if case .status(.failed(_, .freeSpace)) = $0 { true } else { false }
        }
        try await store.run { try $0.execute("PRAGMA max_page_count = 1000000") }
        try await poll {
            clock.advance(by: .seconds(30))
            return try await fixture.photos().first?.width == 4000
                && fixture.session.folder.state.withLock(\.status) == .ready
        }
    }

    @Test func `a refresh on a full disk fails with the error for full disks`() async throws {
        let fixture = try PhotosFixture(photos: ["a.jpg"], images: images)
        try await fixture.ready()
        let store = fixture.session.folder.store
        try await store.run { try $0.execute("PRAGMA max_page_count = 1") }
        for index in 0..<500 { try fixture.add("\(index).jpg", seconds: index + 1) }
        await #expect(throws: ProviderError.storageFull) { try await fixture.session.refresh(.all) }
    }

    @Test func `photos are served without an image helper`() async throws {
        images.error.update { $0 = .notSupported(Message(verbatim: "no helper")) }
        let fixture = try PhotosFixture(photos: ["a.jpg", "b.jpg"], images: images)
        for _ in 0..<3 { #expect(try await fixture.photos().count == 2) }
        #expect(try await fixture.session.photo(try await fixture.id("a")).width == nil)
        #expect(images.probed.value.count == 1)
    }

    @Test func `the other photos are read in batches with pauses, newest first`() async throws {
        images.facts.update { $0 = ["jpg": facts()] }
        let names = (0..<1010).map { "\($0 + 1000).jpg" }
        let clock = ManualClock()
        let fixture = try PhotosFixture(photos: names, images: images, clock: clock)
        try await fixture.ready()
        #expect(images.probed.value.isEmpty)
        // A delay at the start, then batches with pauses. Other components may sleep as well.
        let ticking = Task {
            for number in 1... {
                _ = try await clock.sleepers.elements(number)
                clock.advance(by: .seconds(60))
            }
        }
        defer { ticking.cancel() }
        _ = try await images.probed.elements(names.count)
        #expect(clock.sleepers.value.count >= 3)
        #expect(images.probed.value == names.reversed())
        // The last results are stored a little later. No event reports photos that no client has requested.
        try await poll { try await fixture.photos().allSatisfy { $0.width == 4000 } }
    }
}
