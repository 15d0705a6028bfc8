import Contract
import FoundationEssentials
import ProviderKit
import TestSupport
import Testing

@testable import BusService
@testable import DBus

/// The properties of a photo on the bus, compared with the documentation of the interface.
@Suite struct PhotoFieldTests {
    private struct Property: Equatable {
        let key: String
        let signature: String
    }

    /// The properties of a photo in which all are known, as sent.
    private func sentProperties() throws -> [Property] {
        let reply = try PreparedReply(PhotoEntry(.filled(id: "p"), account: "/a"))
        var decoder = Decoder(reply.template)
        var entries = try decoder.enterArray(of: Signature(unchecked: "{sv}"))
        var properties: [Property] = []
        while !entries.isAtEnd {
            var entry = entries.enter()
            let key = try String(from: &entry)
            let value = try Variant(from: &entry)
            properties.append(Property(key: key, signature: value.valueSignature.text))
            entries.next()
        }
        return properties
    }

    /// The properties that the description of the interface lists, one or more in a line `KEY, KEY  (TYPE)  MEANING`.
    private func documentedProperties() throws -> [Property] {
        let file = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "dist/interfaces/org.imagefeed.ImageFeed1.Feed.xml")
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let start = try #require(text.firstRange(of: "      A photo is a dictionary (a{sv})."))
        let end = try #require(text.firstRange(of: "\n      Errors\n"))
        let pattern = #/^ {8}([a-z_]+(?:, [a-z_]+)*) +\((\S+)\)  \S/#.anchorsMatchLineEndings()
        return text[start.upperBound..<end.lowerBound].matches(of: pattern).flatMap { match in
            match.1.split(separator: ", ").map {
                Property(key: String($0), signature: String(match.2))
            }
        }
    }

    @Test
    func
        `the documentation lists the properties with their types in the order in which they are sent`()
        throws
    {
        let sent = try sentProperties()
        #expect(sent == (try documentedProperties()))
        #expect(sent.count == PhotoField.all.count + 2)
        #expect(Set(sent.map(\.key)).count == sent.count)
    }

    @Test func `the first properties keep their order`() throws {
        let first = [
            "id", "account", "created", "updated", "width", "height", "color", "blur_hash", "focus",
            "title", "description", "author", "author_username", "author_url", "url", "likes",
            "liked", "pending", "sensitive", "media_type",
        ]
        #expect(try sentProperties().map(\.key).starts(with: first))
    }

    @Test func `unknown properties are left out`() throws {
        var encoder = Encoder()
        try PhotoEntry(Photo(id: PhotoID("p")), account: "/a").encode(into: &encoder)
        let text = String(decoding: encoder.bytes, as: UTF8.self)
        let sent =
            ["id", "account"] + PhotoField.all.map(\.key).filter { text.contains("\($0)\0") }
        #expect(sent == ["id", "account", "liked", "pending"])
    }
}
