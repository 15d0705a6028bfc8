import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import ImageClient

/// Files that were made to do harm, and helpers that break down.
@Suite(.timeLimit(.minutes(1))) @MainActor
struct HostileImageTests {
    private static let broken: [(String, [UInt8])] = [
        ("nothing", []),
        ("a page of HTML", Array("<!DOCTYPE html><title>404</title>".utf8)),
        ("a JPEG that ends", Array(TestImages.jpeg(400, 300)[..<600])),
        ("a PNG that ends", Array(TestImages.png(4000, 300).dropLast(20))),
        ("a head and nothing else", [0xff, 0xd8, 0xff, 0xe0, 0, 0x10]),
        ("a PNG without pixels", TestImages.pngHead(2000, 2000)),
        ("a drawing that loads others", Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)),
        ("a packed drawing", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]),
        ("a film", [0, 0, 0, 0x18] + Array("ftypisom".utf8) + [UInt8](repeating: 0, count: 40)),
    ]

    @Test func `a file that is no whole image is damaged, and the next one is served`() async throws
    {
        let world = try WorkshopFixture()
        for (name, bytes) in Self.broken {
            let file = try world.file(bytes)
            await #expect(throws: ImageProcessorError.damaged, "\(name)") {
                try await world.workshop.scale(file, pixels: 64, as: .png(), to: world.output)
            }
            #expect(!world.outputIsThere(), "\(name)")
        }
        let photo = try world.file(TestImages.jpeg(40, 30))
        let process = try #require(world.workshop.processID)
        try await world.workshop.scale(photo, pixels: 10, as: .png(), to: world.output)
        #expect(world.workshop.processID == process)
    }

    @Test(arguments: [(60_000, 60_000), (0x7fff_ffff, 0x7fff_ffff), (1, 0x7fff_ffff)])
    func `an image that is too large is not begun`(width: Int, height: Int) async throws {
        let world = try WorkshopFixture()
        let file = try world.file(TestImages.pngHead(width, height))
        await #expect(throws: ImageProcessorError.tooLarge) {
            try await world.workshop.scale(file, pixels: 64, as: .png(), to: world.output)
        }
        // To look at it does no harm.
        #expect(try await world.size(world.directory.appending("photo")) == [width, height])
    }

    @Test func `EXIF that leads to itself ends`() async throws {
        let world = try WorkshopFixture()
        var exif = TestImages.exif(orientation: 1)
        // The second table is the first, and the one after the first is the first, too.
        exif[30] = 8
        exif[34] = 8
        let facts = try await world.workshop.probe(
            try world.file(TestImages.jpeg(40, 30, exif: exif)), urgency: .now)
        #expect(facts == ImageFacts(width: 40, height: 30))
    }

    @Test func `a helper that is killed fails one job, and its file until that changes`()
        async throws
    {
        let world = try WorkshopFixture()
        let photo = try world.file(TestImages.jpeg(40, 30))
        let other = try world.file(TestImages.jpeg(50, 30), "other")
        _ = try await world.workshop.probe(other, urgency: .now)
        let process = try #require(world.workshop.processID)
        kill(process, SIGSTOP)
        let job = Task {
            try await world.workshop.scale(photo, pixels: 10, as: .png(), to: world.output)
        }
        // Its job is on its way when its part is there.
        while access("\(world.output).imagefeed-part", F_OK) != 0 { await Task.yield() }
        let next = Task { try await world.workshop.probe(other, urgency: .now) }
        kill(process, SIGKILL)
        await #expect(throws: ImageProcessorError.self) { try await job.value }
        #expect(!world.outputIsThere())
        #expect(try await next.value.width == 50)
        #expect(world.workshop.processID != process)
        await #expect(throws: ImageProcessorError.damaged) {
            try await world.workshop.scale(photo, pixels: 10, as: .png(), to: world.output)
        }
        _ = try world.file(TestImages.jpeg(41, 30))
        try await world.workshop.scale(photo, pixels: 10, as: .png(), to: world.output)
    }

    @Test func `a job that takes too long ends`() async throws {
        var limits = HelperLimits()
        limits.making = .seconds(1)
        let world = try WorkshopFixture(limits)
        let photo = try world.file(TestImages.jpeg(40, 30))
        let other = try world.file(TestImages.jpeg(50, 30), "other")
        _ = try await world.workshop.probe(other, urgency: .now)
        kill(try #require(world.workshop.processID), SIGSTOP)
        await #expect(throws: ImageProcessorError.tooLarge) {
            try await world.workshop.scale(photo, pixels: 10, as: .png(), to: world.output)
        }
        #expect(try await world.workshop.probe(other, urgency: .now).width == 50)
    }

    @Test(arguments: ["/nowhere/imagefeed-image-helper", "/bin/false", "/bin/true", "/bin/cat"])
    func `without a helper there is an error`(program: String) async throws {
        let world = try WorkshopFixture(program: program)
        let photo = try world.file(TestImages.jpeg(40, 30))
        for _ in 0..<2 {
            await #expect(throws: ImageProcessorError.self) {
                try await world.workshop.probe(photo, urgency: .now)
            }
        }
    }
}
