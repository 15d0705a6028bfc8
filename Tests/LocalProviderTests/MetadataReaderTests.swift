import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import LocalProvider

/// What files tell of photos, looked up behind the pages.
@Suite(.timeLimit(.minutes(1)))
struct MetadataReaderTests {
    private let images = ScriptedWorkshop()

    private func facts(_ taken: Int64? = nil) -> ImageFacts {
        ImageFacts(
            width: 4000, height: 3000, taken: taken.map { Timestamp(secondsSince1970: $0) })
    }

    @Test func `a page does not wait, and what is found is told`() async throws {
        images.facts.update { $0 = ["a.jpg": facts(500), "b.jpg": facts()] }
        images.isHeld.update { $0 = true }
        let world = try PhotosFixture(photos: ["a.jpg", "b.jpg"], images: images)
        let before = try await world.photos()
        #expect(before.map(\.title) == ["b", "a"])
        #expect(before.allSatisfy { $0.width == nil })
        images.isHeld.update { $0 = false }
        try await world.changed(before[1].id)
        let after = try await world.photos()
        #expect(after.map(\.width) == [4000, 4000] && after.map(\.height) == [3000, 3000])
        // Taken, or else changed; the order stays that of changes.
        #expect(after.map(\.created?.secondsSince1970) == [1_000_001, 500])
        #expect(after.map(\.updated?.secondsSince1970) == [1_000_001, 1_000_000])
    }

    @Test func `one photo is told with what its file says`() async throws {
        images.facts.update { $0 = ["a.jpg": facts(500)] }
        let world = try PhotosFixture(photos: ["a.jpg"], images: images)
        let photo = try await world.session.photo(try await world.id("a"))
        #expect(photo.width == 4000 && photo.created?.secondsSince1970 == 500)
    }

    @Test func `what was found is kept, until the file changes`() async throws {
        images.facts.update { $0 = ["a.jpg": facts()] }
        let world = try PhotosFixture(photos: ["a.jpg"], images: images)
        let id = try await world.id("a")
        _ = try await world.session.photo(id)
        world.session.close()
        let again = try PhotosFixture(world.directory, images: images)
        #expect(try await again.photos().map(\.width) == [4000])
        #expect(images.probed.value == ["a.jpg"])
        images.facts.update { $0 = ["a.jpg": ImageFacts(width: 1, height: 2)] }
        try await again.ready()
        try again.add("a.jpg", seconds: 2_000_000)
        try await again.become { try await again.photos().first?.width == 1 }
    }

    @Test func `a file that tells nothing is looked into once`() async throws {
        let world = try PhotosFixture(photos: ["a.jpg"], images: images)
        let id = try await world.id("a")
        for _ in 0..<3 { #expect(try await world.session.photo(id).width == nil) }
        #expect(images.probed.value == ["a.jpg"])
    }

    @Test func `where nobody can look, photos are shown all the same`() async throws {
        images.error.update { $0 = .notSupported("no helper") }
        let world = try PhotosFixture(photos: ["a.jpg", "b.jpg"], images: images)
        for _ in 0..<3 { #expect(try await world.photos().count == 2) }
        #expect(try await world.session.photo(try await world.id("a")).width == nil)
        #expect(images.probed.value.count == 1)
    }

    @Test func `what nobody has seen yet is examined little by little, the newest first`()
        async throws
    {
        images.facts.update { $0 = ["jpg": facts()] }
        let names = (0..<210).map { "\($0 + 100).jpg" }
        let clock = ManualClock()
        let world = try PhotosFixture(photos: names, images: images, clock: clock)
        try await world.ready()
        #expect(images.probed.value.isEmpty)
        // First some calm, then one batch after the other, with pauses. Others may sleep as well.
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
        // The last of them are noted a while later, and nobody is told of what nobody has seen.
        while try await !world.photos().allSatisfy({ $0.width == 4000 }) { await Task.yield() }
    }
}
