import EngineModel
import ImageMetadata
import ProviderKit
import Storage
import TestSupport
import Testing
import Translation

@testable import LocalProvider

/// The camera, the album and the location of local photos.
@Suite(.timeLimit(.minutes(10))) struct PhotoFieldsTests {
    private let images = ScriptedImageProcessor()

    private func fixture(
        _ photos: [String], _ directory: TemporaryDirectory? = nil, showsLocation: Bool = false
    ) async throws -> PhotosFixture {
        images.facts.update { $0 = ["jpg": Self.facts] }
        let fixture = try PhotosFixture(
            directory, photos: directory == nil ? photos : [], images: images,
            showsLocation: showsLocation)
        try await fixture.examine()
        return fixture
    }

    private static var facts: ImageFacts {
        var facts = ImageFacts(width: 4, height: 3)
        facts.camera = "Canon EOS R6"
        facts.lens = "RF35mm F1.8"
        facts.exposureTime = 0.004
        facts.aperture = 2.8
        facts.iso = 800
        facts.isAnimated = true
        facts.latitude = 48.858222
        facts.longitude = -2.2945
        return facts
    }

    @Test func `a photo has its camera, and the title of its album`() async throws {
        let fixture = try await fixture(["a.jpg", "x/b.jpg", "x/y/c.jpg"])
        let photos = try await fixture.photos()
        #expect(photos.map(\.camera) == [String?](repeating: "Canon EOS R6", count: 3))
        #expect(photos.map(\.album) == ["x/y", "x", nil])
        let titles = try await fixture.session.sources().filter { $0.kind == .album }
            .map(\.title.english)
        #expect(titles == ["x", "x/y"])
        for photo in photos { #expect(try await fixture.session.photo(photo.id) == photo) }
        #expect(try await fixture.photos(SourceID("album:x")).map(\.album) == ["x"])
        // A moved photo is in another album.
        try fixture.move("x/b.jpg", to: "x/y/b.jpg")
        try await fixture.become { try await fixture.photos().map(\.album) == ["x/y", "x/y", nil] }
    }

    @Test func `titles are whole names without extensions and bidi overrides`() async throws {
        let fixture = try await fixture([
            "2024.05.06 Trip", "2024.05.06", "b\u{202e}/c.d.jpeg", "two\nlines/e.JPG",
        ])
        let titles = try await fixture.photos().compactMap(\.title).sorted()
        #expect(titles == ["2024.05.06", "2024.05.06 Trip", "c.d", "e"])
        let albums = try await fixture.session.sources().filter { $0.kind == .album }
            .map(\.title.english)
        #expect(albums.sorted() == ["b", "two lines"])
    }

    @Test func `the title of a file with a long name or several lines is one line`() async throws {
        let long = String(repeating: "fog and ", count: 31) + "ab"
        let fixture = try await fixture(["\(long).jpg", "two\nlines.jpg", "a  b.jpg"])
        for photo in try await fixture.photos() {
            let title = try #require(photo.title)
            #expect(title.count <= 200)
            #expect(!title.contains { $0.isNewline })
            #expect(photo.text == (title.hasSuffix("…") ? long : nil))
        }
        let titles = Set(try await fixture.titles())
        #expect(titles.isSuperset(of: ["two lines", "a b"]))
    }

    @Test func `a photo has the settings of its camera until its file changes`() async throws {
        let fixture = try await fixture(["a.jpg"])
        func photo() async throws -> Photo { try #require(try await fixture.photos().first) }
        let first = try await photo()
        #expect(first.lens == "RF35mm F1.8" && first.exposureTime == 0.004)
        #expect(first.aperture == 2.8 && first.iso == 800 && first.isAnimated == true)
        images.facts.update { $0 = ["jpg": ImageFacts(width: 4, height: 3)] }
        PhotosFixture.touch(fixture.path("a.jpg"), seconds: 5_000_000)
        _ = try await fixture.session.refresh(.all)
        try await fixture.examine()
        let second = try await photo()
        #expect(second.lens == nil && second.exposureTime == nil && second.aperture == nil)
        #expect(second.iso == nil && second.isAnimated == nil)
    }

    @Test func `the location is shown only if the user allows it`() async throws {
        let fixture = try await fixture(["a.jpg", "x/b.jpg"])
        func latitude() async throws -> Double? {
            let photo = try #require(try await fixture.photos().first)
            #expect((photo.latitude == nil) == (photo.longitude == nil))
            #expect(try await fixture.session.photo(photo.id).latitude == photo.latitude)
            return photo.latitude
        }
        #expect(try await latitude() == nil)
        let probed = images.probed.value
        let count = fixture.events.value.count
        fixture.provider.change(LocalSettings(showsLocation: true))
        #expect(try await latitude() == 48.858222)
        // Clients read the photos of each source again.
        for source in ["all", "album:x", "likes", "memories"] {
            try await fixture.updated(SourceID(source), new: 0, after: count)
        }
        fixture.provider.change(LocalSettings(showsLocation: true))
        fixture.provider.change(LocalSettings(showsLocation: false))
        #expect(try await latitude() == nil)
        #expect(images.probed.value == probed)
        // Later sessions follow the setting as well.
        fixture.provider.change(LocalSettings(showsLocation: true))
        fixture.session.close()
        let session = try PhotosFixture.session("bob", of: fixture.provider)
        let page = try await session.page(.all, after: nil, count: 1)
        #expect(page.photos.first?.longitude == -2.2945)
        session.close()
    }

    @Test func `events contain the location only if the user allows it`() async throws {
        for isShown in [false, true] {
            let fixture = try await fixture(["a.jpg"], showsLocation: isShown)
            let count = fixture.events.value.count
            PhotosFixture.touch(fixture.path("a.jpg"), seconds: 5_000_000)
            _ = try await fixture.session.refresh(.all)
            _ = try await fixture.photos()
            let photo = try await fixture.events.wait { events in
                events.dropFirst(count).flatMap(\.changed).first { $0.camera != nil }
            }
            #expect((photo.latitude != nil) == isShown)
            #expect((photo.longitude != nil) == isShown)
        }
    }

    @Test func `metadata of an earlier version is completed in the background`() async throws {
        let first = try await fixture(["a.jpg", "b.jpg", "c.jpg"])
        try await first.register()
        try await first.like("b")
        let before = try await first.photos()
        // The index as an earlier version left it.
        try await first.session.folder.store.run { database in
            try database.execute(
                """
                UPDATE file SET examined = 1, camera = NULL, latitude = NULL, longitude = NULL,
                    lens = NULL, year = NULL, day = NULL
                """)
        }
        first.session.close()
        images.isHeld.update { $0 = true }
        let fixture = try PhotosFixture(first.directory, images: images, showsLocation: true)
        let outdated = try await fixture.photos()
        #expect(outdated.map(\.id) == before.map(\.id))
        #expect(outdated.map(\.width) == [4, 4, 4] && outdated.allSatisfy { $0.camera == nil })
        #expect(outdated.map(\.isLiked) == [false, true, false])
        images.isHeld.update { $0 = false }
        try await fixture.examine()
        let after = try await fixture.photos()
        #expect(after.map(\.id) == before.map(\.id))
        #expect(after.allSatisfy { $0.camera == "Canon EOS R6" && $0.latitude == 48.858222 })
        #expect(after.allSatisfy { $0.lens == "RF35mm F1.8" })
        #expect(after.map(\.isLiked) == [false, true, false])
        #expect(Set(images.probed.value.suffix(3)) == ["a.jpg", "b.jpg", "c.jpg"])
    }
}
