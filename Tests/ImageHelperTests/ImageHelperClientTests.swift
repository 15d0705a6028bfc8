import Glibc
import ImageMetadata
import ProviderKit
import System
import TestSupport
import Testing
import Translation

@testable import ImageClient

/// The client with the real helper.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct ImageHelperClientTests {
    @Test func `a probe returns the upright size and the date in UTC`() async throws {
        let fixture = try ImageHelperFixture()
        let exif = TestImages.exif(orientation: 6, taken: "2024:02:29 12:00:00", offset: "+01:00")
        let photo = try fixture.file(TestImages.jpeg(40, 30, exif: exif))
        let facts = try await fixture.probe(photo)
        #expect((facts.width, facts.height) == (30, 40))
        #expect(facts.taken?.secondsSince1970 == 1_709_204_400)
        #expect(facts.takenOn == CalendarDate(year: 2024, month: 2, day: 29))
    }

    @Test func `a date without a time zone is local time`() async throws {
        let fixture = try ImageHelperFixture()
        let exif = TestImages.exif(orientation: 1, taken: "2024:02:29 12:00:00")
        let photo = try fixture.file(TestImages.jpeg(40, 30, exif: exif))
        let facts = try await fixture.client.probe(photo, inBackground: true)
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday, parts.tm_hour) = (124, 1, 29, 12)
        parts.tm_isdst = -1
        #expect(facts.taken?.secondsSince1970 == Int64(mktime(&parts)))
    }

    @Test func `a scaled image is upright, keeps its aspect ratio and is private to the user`()
        async throws
    {
        let fixture = try ImageHelperFixture()
        let photo = try fixture.file(
            TestImages.jpeg(800, 400, exif: TestImages.exif(orientation: 8)))
        try await fixture.scale(photo, pixels: 200, texts: ["Thumb::MTime": "7"])
        #expect(try await fixture.outputSize == [100, 200])
        var status = stat()
        #expect(stat(fixture.output, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let descriptor = open(fixture.output, O_RDONLY)
        defer { close(descriptor) }
        #expect(PNGFile.texts(FileBytes(descriptor: descriptor))?["Thumb::MTime"] == "7")
    }

    @Test(arguments: [(800, 400), (20, 30), (3000, 1)])
    func `a square is made from an image of any shape`(width: Int, height: Int) async throws {
        let fixture = try ImageHelperFixture()
        let photo = try fixture.file(TestImages.jpeg(width, height))
        try await fixture.client.make(.square(pixels: 96), from: photo, to: fixture.output)
        #expect(try await fixture.outputSize == [96, 96])
        #expect(fixture.outputHead().dropFirst() == Array("PNG".utf8)[...])
    }

    @Test func `one helper runs at a time, and an idle helper ends`() async throws {
        var limits = HelperLimits.wide
        // Longer than a slow machine takes from one job to the next.
        limits.idleTimeout = .seconds(10)
        let fixture = try ImageHelperFixture(limits)
        let photo = try fixture.file(TestImages.jpeg(40, 30))
        #expect(fixture.client.processID == nil)
        async let first = fixture.client.probe(photo, inBackground: true)
        async let second = fixture.probe(photo)
        _ = try await (first, second)
        let process = try #require(fixture.client.processID)
        _ = try await fixture.probe(photo)
        #expect(fixture.client.processID == process)
        try await fixture.waitForHelperExit()
        // The next job starts a new process.
        _ = try await fixture.probe(photo)
        #expect(fixture.client.processID != process)
    }

    @Test(arguments: [EAGAIN, ENOMEM, EMFILE, ENFILE, ENOENT, EACCES])
    func `a lack of processes or memory at the start is a failure that may end`(code: Int32) {
        let error = ImageProcessorError(SpawnError(program: "helper", code: code))
        let isMissing = [ENOENT, EACCES].contains(code)
        if case .notSupported = error { #expect(isMissing) } else { #expect(!isMissing) }
        if case .failed = error { #expect(!isMissing) } else { #expect(isMissing) }
    }

    @Test func `a failed job leaves no file`() async throws {
        let fixture = try ImageHelperFixture()
        let photo = try fixture.file(TestImages.jpeg(40, 30))
        await #expect(throws: ImageProcessorError.self) {
            try await fixture.client.make(
                .scaled(pixels: 10, texts: [:]), from: photo,
                to: fixture.directory.appending("nowhere/output"))
        }
        await #expect(
            throws: ImageProcessorError.notReadable(Message(verbatim: "The file does not exist."))
        ) { try await fixture.scale(Array("/nowhere".utf8), pixels: 10) }
        #expect(!fixture.outputExists())
    }
}
