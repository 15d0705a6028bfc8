import Glibc
import ImageMetadata
import ProviderKit
import TestSupport
import Testing

@testable import ImageClient

/// Malicious and damaged files, and helpers that crash.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct HostileImageTests {
    private static let broken: [(String, [UInt8])] = [
        ("an empty file", []), ("an HTML page", Array("<!DOCTYPE html><title>404</title>".utf8)),
        ("a truncated JPEG", Array(TestImages.jpeg(400, 300)[..<600])),
        ("a truncated PNG", Array(TestImages.png(4000, 300).dropLast(20))),
        ("a JPEG header without a body", [0xff, 0xd8, 0xff, 0xe0, 0, 0x10]),
        ("a PNG without pixels", TestImages.pngHead(2000, 2000)),
        ("an SVG file", Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)),
        ("a compressed SVG file", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]),
        ("a video", [0, 0, 0, 0x18] + Array("ftypisom".utf8) + [UInt8](repeating: 0, count: 40)),
    ]

    @Test func `an incomplete image is rejected as damaged, and the helper continues`() async throws
    {
        let fixture = try ImageHelperFixture()
        for (name, bytes) in Self.broken {
            let file = try fixture.file(bytes)
            await #expect(throws: ImageProcessorError.damaged, "\(name)") {
                try await fixture.scale(file)
            }
            #expect(!fixture.outputExists(), "\(name)")
        }
        let photo = try fixture.file(TestImages.jpeg(40, 30))
        let process = try #require(fixture.client.processID)
        try await fixture.scale(photo, pixels: 10)
        #expect(fixture.client.processID == process)
    }

    @Test(arguments: [(60_000, 60_000), (0x7fff_ffff, 0x7fff_ffff), (1, 0x7fff_ffff)])
    func `an image with too many pixels is not decoded`(width: Int, height: Int) async throws {
        let fixture = try ImageHelperFixture()
        let file = try fixture.file(TestImages.pngHead(width, height))
        await #expect(throws: ImageProcessorError.tooLarge) { try await fixture.scale(file) }
        // Reading the header is still possible.
        let facts = try await fixture.probe(file)
        #expect((facts.width, facts.height) == (width, height))
    }

    @Test func `reading EXIF tables that refer to each other ends`() async throws {
        let fixture = try ImageHelperFixture()
        var exif = TestImages.exif(orientation: 1)
        // Both the second table and the next table are the first one.
        (exif[30], exif[34]) = (8, 8)
        let facts = try await fixture.probe(try fixture.file(TestImages.jpeg(40, 30, exif: exif)))
        #expect(facts == ImageFacts(width: 40, height: 30))
    }

    @Test func `a helper crash fails one job, and its file is rejected until it changes`()
        async throws
    {
        let fixture = try ImageHelperFixture()
        let photo = try fixture.file(TestImages.jpeg(40, 30))
        // The helper may end before it has the job. Then a new helper performs the job.
        var hasFailed = false
        for _ in 0..<20 where !hasFailed { hasFailed = try await failsAfterCrash(photo, fixture) }
        #expect(hasFailed)
        await #expect(throws: ImageProcessorError.damaged) { try await fixture.scale(photo) }
        _ = try fixture.file(TestImages.jpeg(41, 30))
        try await fixture.scale(photo, pixels: 10)
    }

    /// Kills the helper during a job, while another job waits.
    ///
    /// - Returns: True if the job failed.
    private func failsAfterCrash(
        _ photo: [UInt8], _ fixture: ImageHelperFixture
    ) async throws -> Bool {
        let other = try fixture.file(TestImages.jpeg(50, 30), "other")
        _ = try await fixture.probe(other)
        let process = try #require(fixture.client.processID)
        kill(process, SIGSTOP)
        let job = Task { try await fixture.scale(photo, pixels: 10) }
        // The job is about to start when its temporary file exists.
        try await poll { access("\(fixture.output).imagefeed-part", F_OK) == 0 }
        let next = Task { try await fixture.probe(other) }
        kill(process, SIGKILL)
        var failure: (any Error)?
        do { try await job.value } catch { failure = error }
        #expect(try await next.value.width == 50)
        #expect(fixture.client.processID != process)
        guard let failure else {
            unlink(fixture.output)
            return false
        }
        #expect(failure is ImageProcessorError)
        #expect(!fixture.outputExists())
        return true
    }

    @Test func `a job ends at its time limit`() async throws {
        var limits = HelperLimits.wide
        limits.writeTimeout = .seconds(1)
        let fixture = try ImageHelperFixture(limits)
        let photo = try fixture.file(TestImages.jpeg(40, 30))
        let other = try fixture.file(TestImages.jpeg(50, 30), "other")
        _ = try await fixture.probe(other)
        kill(try #require(fixture.client.processID), SIGSTOP)
        await #expect(throws: ImageProcessorError.tooLarge) { try await fixture.scale(photo) }
        #expect(try await fixture.probe(other).width == 50)
    }

    @Test(arguments: ["/nowhere/imagefeed-image-helper", "/bin/false", "/bin/true", "/bin/cat"])
    func `a helper that cannot run causes an error`(program: String) async throws {
        let fixture = try ImageHelperFixture(program: program)
        let photo = try fixture.file(TestImages.jpeg(40, 30))
        for _ in 0..<2 {
            await #expect(throws: ImageProcessorError.self) { try await fixture.probe(photo) }
        }
    }
}
