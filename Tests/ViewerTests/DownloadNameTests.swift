import Contract
import DBus
import Testing

@testable import Viewer

@MainActor
struct DownloadNameTests {
    private func name(_ title: String, _ mediaType: String = "image/jpeg") throws -> String {
        let entries: [String: Variant] = [
            "id": .string("7"), "title": .string(title), "media_type": .string(mediaType),
        ]
        return Downloads.name(try #require(Photo(entries)))
    }

    @Test(arguments: [
        ("Sunset", "Sunset.jpg"), ("", "7.jpg"), ("a/b\nc", "a-b-c.jpg"),
        ("../../etc/passwd", "etc-passwd.jpg"), (".hidden", "hidden.jpg"), ("...", "Photo.jpg"),
    ])
    func `a name is a title without characters that have a meaning in paths`(
        title: String, name: String
    ) throws {
        #expect(try self.name(title) == name)
    }

    @Test func `a name has the extension of the media type`() throws {
        #expect(try name("Sunset", "image/png") == "Sunset.png")
        #expect(try name("Sunset", "") == "Sunset.jpg")
    }

    @Test(arguments: ["a", "é", "🌅", "e\u{301}\u{302}"])
    func `a name has at most 255 bytes`(character: String) throws {
        let name = try name(String(repeating: character, count: 300))
        #expect(50...255 ~= name.utf8.count)
        #expect(name.hasPrefix(character))
    }
}
