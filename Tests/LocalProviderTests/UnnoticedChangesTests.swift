import Glibc
import ImageMetadata
import ProviderKit
import TestSupport
import Testing

@testable import LocalProvider

/// Changes that keep the size and the date of a file.
@Suite(.timeLimit(.minutes(10))) struct UnnoticedChangesTests {
    enum Change: CaseIterable { case inPlace, renamed }

    private func replace(_ fixture: PhotosFixture, _ change: Change) throws {
        let bytes = PhotosFixture.jpeg + Array("B.jpg".utf8)
        let staged = fixture.directory.appending("tmp/copy")
        let path = change == .inPlace ? fixture.path("a.jpg") : staged
        try PhotosFixture.write(bytes, to: path)
        PhotosFixture.touch(path, seconds: 1_000_000)
        if change == .renamed { try check(rename(staged, fixture.path("a.jpg"))) }
    }

    @Test(arguments: Change.allCases, [true, false])
    func `a change of equal size and date is seen`(change: Change, isRunning: Bool) async throws {
        let images = ScriptedImageProcessor()
        images.facts.update { $0["a.jpg"] = ImageFacts(width: 1, height: 2) }
        var fixture = try PhotosFixture(photos: ["a.jpg"], images: images)
        try await fixture.ready()
        let id = try await fixture.id("a")
        try await poll { try await fixture.session.photo(id).width == 1 }
        _ = try await fixture.session.imagePath(id, .thumb)
        if !isRunning { fixture.session.close() }
        // The times of files have a granularity.
        usleep(20_000)
        images.facts.update { $0["a.jpg"] = ImageFacts(width: 3, height: 2) }
        try replace(fixture, change)
        if !isRunning {
            fixture = try PhotosFixture(fixture.directory, images: images)
            try await fixture.ready()
        }
        try await fixture.changed(id)
        try await poll { try await fixture.session.photo(id).width == 3 }
        _ = try await fixture.session.imagePath(id, .thumb)
        #expect(images.made.value.count == 2)
    }

    @Test func `a repaired photo is decoded again`() async throws {
        let images = ScriptedImageProcessor()
        let fixture = try PhotosFixture(photos: ["a.jpg"], images: images)
        let id = try await fixture.id("a")
        images.error.update { $0 = .damaged }
        await #expect(throws: ProviderError.self) {
            try await fixture.session.imagePath(id, .thumb)
        }
        usleep(20_000)
        try replace(fixture, .inPlace)
        images.error.update { $0 = nil }
        _ = try await fixture.session.imagePath(id, .thumb)
    }

    @Test func `changed permissions are no change of a photo`() async throws {
        let fixture = try await PhotosFixture.ready(["a.jpg"])
        let before = fixture.events.value.count
        chmod(fixture.path("a.jpg"), 0o640)
        try fixture.add("b.jpg", seconds: 2_000_000)
        try await fixture.updated(.all, new: 1, after: before)
        #expect(fixture.events.value.dropFirst(before).flatMap(\.changed) == [])
    }
}
