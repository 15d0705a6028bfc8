import DBus
import Foundation
import Testing

@testable import ControlCommands

struct AnswerTests {
    private func terminal(_ columns: Int) -> Medium {
        .terminal(columns: columns, isColoured: false)
    }

    private func lines(_ answer: some Answer, _ columns: Int) -> [Substring] {
        answer.text(for: terminal(columns)).split(separator: "\n")
    }

    @Test func `the status is one screen`() {
        let screen = StatusScreen(snapshot: Samples.snapshot)
        let text = screen.text(for: terminal(80))
        #expect(text.hasPrefix("Image Feed 1.2.3, online\n\n"))
        #expect(text.contains("*  local_ada     Ada     Pictures  ready\n"))
        #expect(text.contains("   unsplash_bob  Bob[2J  Unsplash  rate-limited\n     The hour's"))
        #expect(text.contains("2 of 50 requests left."))
        #expect(text.contains("Next try"))
        #expect(text.hasSuffix("\nNot configured: Unsplash.\n"))
    }

    @Test func `the status without accounts says what to do`() {
        let empty = ServiceSnapshot(manager: ["Version": .string("1")], objects: [:])
        let text = StatusScreen(snapshot: empty).text(for: terminal(80))
        #expect(text.contains("imagefeedctl login PROVIDER"))
        #expect(StatusScreen(snapshot: empty).text(for: .pipe) == "daemon\t1\toffline\n")
    }

    @Test(arguments: [40, 80])
    func `every answer fits the window`(columns: Int) {
        let photos = ["42", "日本の山と湖の写真、とても長い題", "😀😀😀😀😀😀😀😀😀😀😀😀😀😀"].map {
            Samples.photo("1234", title: $0)
        }
        let sources: [[String: Variant]] = [
            ["id": .string("album:日本"), "title": .string(String(repeating: "長", count: 60))]
        ]
        let answers: [any Answer] = [
            StatusScreen(snapshot: Samples.snapshot), AccountList(snapshot: Samples.snapshot),
            ProviderList(providers: Samples.snapshot.providers),
            PhotoPage(photos: photos, next: ""), PhotoSheet(photo: photos[1]),
            SourceList(sources: sources, defaultSource: nil),
        ]
        for answer in answers {
            #expect(lines(answer, columns).allSatisfy { $0.displayWidth <= columns })
        }
    }

    @Test func `status and lists are valid JSON with the names of the bus`() throws {
        let json = StatusScreen(snapshot: Samples.snapshot).json.text
        let status = try #require(
            try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(status["Version"] as? String == "1.2.3")
        #expect((status["accounts"] as? [[String: Any]])?.count == 3)
        #expect((status["providers"] as? [[String: Any]])?.first?["Id"] as? String == "local")
        #expect(json.hasPrefix(#"{"Version":"1.2.3","DefaultAccount":"/org"#))
    }

    @Test func `pages of one feed share their columns`() {
        var listing = FeedListing(medium: terminal(80))
        let first = listing.text(
            of: PhotoPage(photos: [Samples.photo("1", title: "long title")], next: "x"))
        let second = listing.text(of: PhotoPage(photos: [Samples.photo("2", title: "t")], next: ""))
        #expect(first.hasPrefix("PHOTO"))
        #expect(second.hasPrefix("local_ada/2"))
        let third = listing.text(of: PhotoPage(photos: [Samples.photo("300")], next: ""))
        #expect(third.hasPrefix("PHOTO"))
    }

    @Test func `a path is left as it is for a program`() {
        let path = FilePath(path: "/a\u{1B}b\nc")
        #expect(path.text(for: .pipe) == "/a\u{1B}b\nc\n")
        #expect(path.text(for: terminal(80)) == "/ab c\n")
    }

    @Test func `the question before logging out counts unsent likes`() throws {
        let question = LogoutCommand.question(try Samples.snapshot.account("local_ada_2"))
        #expect(question == "Log out of 山田? 2 likes that are not sent yet will be dropped.")
    }

    @Test(arguments: [("y", true), ("Yes ", true), ("", false), ("no", false), (nil, false)])
    func `only yes is yes`(answer: String?, isYes: Bool) {
        #expect(StandardInput.isYes(answer) == isYes)
    }

    @Test(arguments: [Int64.min, .max, -1])
    func `no time is too far away to print`(seconds: Int64) {
        #expect(!Timestamp(seconds).minute.isEmpty)
    }
}
