import Contract
import FoundationEssentials
import ProviderKit
import TestSupport
import Testing

@testable import BusService
@testable import DBus

/// The properties of a photo on the bus, compared with the documentation of the interface.
@Suite struct PhotoFieldTests {
    /// Returns the properties of a photo as they are sent.
    private func sent(_ photo: Photo) throws -> [(key: String, value: Variant)] {
        let reply = try PreparedReply(PhotoEntry(photo, account: "/a"))
        var decoder = Decoder(reply.template)
        var entries = try decoder.enterArray(of: Signature(unchecked: "{sv}"))
        var properties: [(key: String, value: Variant)] = []
        while !entries.isAtEnd {
            var entry = entries.enter()
            properties.append((try String(from: &entry), try Variant(from: &entry)))
            entries.next()
        }
        return properties
    }

    /// The properties that the description of the interface lists, one or more in a line `KEY, KEY  (TYPE)  MEANING`.
    private func documentedProperties() throws -> [String] {
        let file = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "dist/interfaces/org.imagefeed.ImageFeed1.Feed.xml")
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let start = try #require(text.firstRange(of: "      A photo is a dictionary (a{sv})."))
        let end = try #require(text.firstRange(of: "\n      Errors\n"))
        let pattern = #/^ {8}([a-z_]+(?:, [a-z_]+)*) +\((\S+)\)  \S/#.anchorsMatchLineEndings()
        return text[start.upperBound..<end.lowerBound].matches(of: pattern).flatMap { match in
            match.1.split(separator: ", ").map { "\($0) \(match.2)" }
        }
    }

    @Test func `the documentation lists the properties and types of a photo in order`() throws {
        let sent = try sent(.filled(id: "p"))
        let documented = try documentedProperties()
        #expect(sent.map { "\($0.key) \($0.value.valueSignature.text)" } == documented)
        #expect(sent.count == PhotoField.all.count + 2)
        #expect(Set(sent.map(\.key)).count == sent.count)
    }

    @Test func `the first properties keep their order`() throws {
        let first = [
            "id", "account", "created", "updated", "width", "height", "color", "blur_hash", "focus",
            "title", "description", "author", "author_username", "author_url", "url", "likes",
            "liked", "pending", "sensitive", "media_type",
        ]
        #expect(try sent(.filled(id: "p")).map(\.key).starts(with: first))
    }

    @Test func `unknown properties are left out, and a pending like is sent`() throws {
        var photo = Photo(id: PhotoID("p"))
        for isPending in [false, true] {
            photo.isPending = isPending
            let sent = try sent(photo)
            #expect(sent.map(\.key) == ["id", "account", "liked", "pending"])
            #expect(sent.last?.value == .bool(isPending))
        }
    }

    @Test func `a focal point within the photo is sent as fractions from the top left`() throws {
        let focus = try sent(.filled(id: "p")).first { $0.key == "focus" }
        #expect(focus?.value == .structure([.double(0.625), .double(1)]))
        #expect(FocalPoint(x: 1.01, y: 0) == nil)
        #expect(FocalPoint(x: 0, y: .nan) == nil)
    }
}
