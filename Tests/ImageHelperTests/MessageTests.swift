import ImageMetadata
import ImageProtocol
import ProviderKit
import TestSupport
import Testing

/// The encoding of the messages between the daemon and the image helper.
struct MessageTests {
    private static let jobs: [ImageJob] = [
        .probe,
        .make(.scaled(pixels: 256, texts: ["Thumb::URI": "file:///%C3%A4", "Software": ""])),
        .make(.scaled(pixels: 4096, texts: [:])), .make(.square(pixels: 1)),
        .pixels(width: 65_535, height: 1),
    ]
    private static let replies: [ImageReply] = [
        .ready(confinesFiles: true), .done, .facts(ImageFacts(width: 1, height: 2)),
        .facts(facts { ($0.clockSeconds, $0.clockOffset) = (-5, 3600) }),
        .facts(facts { ($0.camera, $0.latitude, $0.longitude) = ("Canon EOS R6", -90, 2.2945) }),
        .pixels(PixelSize(width: 1, height: 2, fullWidth: 3, fullHeight: 65_535)),
        .failure(.damaged), .failure(.tooLarge), .failure(.notSupported("ü")),
        .failure(.cannotWrite(28)), .failure(.misunderstood),
    ]

    private static func facts(_ change: (inout ImageFacts) -> Void) -> ImageFacts {
        var facts = ImageFacts(width: 3, height: 4)
        change(&facts)
        return facts
    }

    private static func decode(_ message: [UInt8]) -> ImageReply? {
        try? ImageReply(message: message)
    }

    /// Encodes and decodes facts.
    private static func transferred(_ change: (inout ImageFacts) -> Void) -> ImageReply? {
        decode(ImageReply.facts(facts(change)).message)
    }

    @Test func `decoding a message returns the encoded value`() throws {
        for job in Self.jobs { #expect(try ImageJob(message: try #require(job.message)) == job) }
        for reply in Self.replies { #expect(try ImageReply(message: reply.message) == reply) }
    }

    @Test func `a message that is too short, too long or out of range is rejected`() throws {
        for message in try Self.jobs.map({ try #require($0.message) }) {
            for wrong in message.indices.map({ Array(message[..<$0]) }) + [message + [0]] {
                #expect((try? ImageJob(message: wrong)) == nil)
            }
        }
        for message in Self.replies.map(\.message) {
            for wrong in message.indices.map({ Array(message[..<$0]) }) + [message + [0]] {
                #expect(Self.decode(wrong) == nil)
            }
        }
        let tooLarge = try #require(ImageJob.make(.square(pixels: 4097)).message)
        #expect((try? ImageJob(message: tooLarge)) == nil)
        let text = String(repeating: "x", count: 20_000)
        #expect(ImageJob.make(.scaled(pixels: 1, texts: ["Software": text])).message == nil)
    }

    @Test(arguments: [
        (Double.nan, 0.0), (0, .nan), (.infinity, 0), (0, -.infinity), (90.001, 0), (0, 180.001),
        (1e300, 0),
    ])
    func `a location that is out of range is rejected`(latitude: Double, longitude: Double) {
        #expect(Self.transferred { ($0.latitude, $0.longitude) = (latitude, longitude) } == nil)
    }

    @Test func `the settings of the camera are transferred, and impossible ones are rejected`() {
        func set(_ facts: inout ImageFacts) {
            (facts.lens, facts.iso, facts.isAnimated) = ("RF35mm F1.8", 800, true)
            (facts.exposureTime, facts.aperture) = (0.004, 2.8)
        }
        #expect(Self.transferred(set) == .facts(Self.facts(set)))
        let long = String(repeating: "x", count: 1025)
        let changes: [(inout ImageFacts) -> Void] = [
            { $0.lens = long }, { $0.camera = long }, { $0.exposureTime = -1 },
            { $0.exposureTime = .nan }, { $0.aperture = .infinity }, { $0.iso = -1 },
        ]
        for change in changes {
            #expect(
                Self.transferred {
                    set(&$0)
                    change(&$0)
                } == nil)
        }
        func setLongest(_ facts: inout ImageFacts) { facts.camera = String(long.dropLast()) }
        #expect(Self.transferred(setLongest) == .facts(Self.facts(setLongest)))
    }

    @Test func `a value that is decoded from random bytes can be encoded`() throws {
        let seed = Simulation.seed
        var random = SeededRandom(seed: seed)
        let messages = try Self.jobs.map { try #require($0.message) } + Self.replies.map(\.message)
        var decodedCount = 0
        for round in 0..<8000 {
            var bytes: [UInt8]
            if round % 2 == 0 {
                bytes = (0..<Int.random(in: 0...64, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                if bytes.count > 1 {
                    let kinds: [UInt8] = [1, 2, 3, 4, 5, 101, 103, 106, 107]
                    bytes[0] = 2
                    bytes[1] = kinds[Int.random(in: kinds.indices, using: &random)]
                }
            } else {
                bytes = messages[Int.random(in: messages.indices, using: &random)]
                let index = Int.random(in: bytes.indices, using: &random)
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
            if let job = try? ImageJob(message: bytes) {
                decodedCount += 1
                #expect(
                    job.message.flatMap { try? ImageJob(message: $0) } == job,
                    "IMAGEFEED_SEED=\(seed) \(bytes)")
            }
            if let reply = try? ImageReply(message: bytes) {
                decodedCount += 1
                #expect(
                    (try? ImageReply(message: reply.message)) == reply,
                    "IMAGEFEED_SEED=\(seed) \(bytes)")
            }
        }
        #expect(decodedCount > 100)
    }
}
