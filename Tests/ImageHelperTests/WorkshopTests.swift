import Glibc
import ImageMetadata
import ProviderKit
import TestSupport
import Testing

@testable import ImageClient

/// What the workshop makes, with the real helper.
@Suite(.timeLimit(.minutes(1))) @MainActor
struct WorkshopTests {
    @Test func `a photo's size and date are those that a person sees`() async throws {
        let world = try WorkshopFixture()
        let exif = TestImages.exif(
            orientation: 6, taken: "2024:02:29 12:00:00", offset: "+01:00")
        let photo = try world.file(TestImages.jpeg(40, 30, exif: exif))
        let facts = try await world.workshop.probe(photo, urgency: .now)
        #expect(facts.width == 30 && facts.height == 40)
        #expect(facts.taken?.secondsSince1970 == 1_709_204_400)
    }

    @Test func `without a zone, the camera's clock shows this computer's time`() async throws {
        let world = try WorkshopFixture()
        let exif = TestImages.exif(orientation: 1, taken: "2024:02:29 12:00:00")
        let photo = try world.file(TestImages.jpeg(40, 30, exif: exif))
        let facts = try await world.workshop.probe(photo, urgency: .later)
        var parts = tm()
        parts.tm_year = 124
        parts.tm_mon = 1
        parts.tm_mday = 29
        parts.tm_hour = 12
        parts.tm_isdst = -1
        #expect(facts.taken?.secondsSince1970 == Int64(mktime(&parts)))
    }

    @Test func `a scaled image is upright, has its shape and is the user's alone`() async throws {
        let world = try WorkshopFixture()
        let photo = try world.file(
            TestImages.jpeg(800, 400, exif: TestImages.exif(orientation: 8)))
        try await world.workshop.scale(
            photo, pixels: 200, as: .png(texts: ["Thumb::MTime": "7"]), to: world.output)
        #expect(try await world.size(world.output) == [100, 200])
        var status = stat()
        #expect(stat(world.output, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let descriptor = open(world.output, O_RDONLY)
        defer { close(descriptor) }
        #expect(PNGFile.texts(FileBytes(descriptor: descriptor))?["Thumb::MTime"] == "7")
        try await world.workshop.scale(photo, pixels: 100, as: .jpeg(), to: world.output)
        #expect(try await world.size(world.output) == [50, 100])
        #expect(world.outputHead().starts(with: [0xff, 0xd8, 0xff]))
    }

    @Test func `what is small stays as it is`() async throws {
        let world = try WorkshopFixture()
        let photo = try world.file(TestImages.png(30, 20))
        try await world.workshop.scale(photo, pixels: 256, as: .png(), to: world.output)
        #expect(try await world.size(world.output) == [30, 20])
    }

    @Test(arguments: [(800, 400), (20, 30), (3000, 1)])
    func `a square is one, however the image is shaped`(width: Int, height: Int) async throws {
        let world = try WorkshopFixture()
        let photo = try world.file(TestImages.jpeg(width, height))
        try await world.workshop.square(photo, pixels: 96, to: world.output)
        #expect(try await world.size(world.output) == [96, 96])
        #expect(world.outputHead().dropFirst() == Array("PNG".utf8)[...])
    }

    @Test(arguments: ["Ada Lovelace", "文", "", "🙂", String(repeating: "x", count: 5000)])
    func `initials are drawn for every name`(name: String) async throws {
        let world = try WorkshopFixture()
        try await world.workshop.initials(of: name, pixels: 128, to: world.output)
        #expect(try await world.size(world.output) == [128, 128])
    }

    @Test func `there is one helper at a time, and none when nothing is asked`() async throws {
        var limits = HelperLimits()
        limits.idle = .seconds(1)
        let world = try WorkshopFixture(limits)
        let photo = try world.file(TestImages.jpeg(40, 30))
        #expect(world.workshop.processID == nil)
        async let first = world.workshop.probe(photo, urgency: .later)
        async let second = world.workshop.probe(photo, urgency: .now)
        _ = try await (first, second)
        let process = try #require(world.workshop.processID)
        _ = try await world.workshop.probe(photo, urgency: .now)
        #expect(world.workshop.processID == process)
        await world.helperIsGone()
        // The next one has a new one.
        _ = try await world.workshop.probe(photo, urgency: .now)
        #expect(world.workshop.processID != process)
    }

    @Test func `an image that cannot be written is not half there`() async throws {
        let world = try WorkshopFixture()
        let photo = try world.file(TestImages.jpeg(40, 30))
        await #expect(throws: ImageProcessorError.self) {
            try await world.workshop.scale(
                photo, pixels: 10, as: .png(), to: world.directory.appending("nowhere/output"))
        }
        await #expect(throws: ImageProcessorError.notReadable("There is no such file.")) {
            try await world.workshop.scale(
                Array("/nowhere".utf8), pixels: 10, as: .png(), to: world.output)
        }
        #expect(!world.outputIsThere())
    }
}
