import Contract
import DBus
import Foundation
import ProviderKit
import System
import Testing

@testable import ControlCommands

struct RenderingTests {
    private func terminal(_ columns: Int) -> OutputTarget {
        .terminal(columns: columns, isColoured: false)
    }

    private func lines(_ result: some Renderable, _ columns: Int) -> [Substring] {
        result.text(for: terminal(columns)).split(separator: "\n")
    }

    /// The retry time is printed without the date on the same day, and with the date on other days.
    @Test(arguments: [0, 86_400, 40 * 86_400, 3653 * 86_400] as [Int64])
    func `status fits on one screen`(age: Int64) {
        let now = Timestamp(secondsSince1970: Samples.retryAt + age)
        let screen = StatusScreen(snapshot: Samples.snapshot, now: now, installedVersion: "1.2.3")
        let text = screen.text(for: terminal(80))
        #expect(text.hasPrefix("Image Feed 1.2.3, online\n\n"))
        #expect(text.contains("*  local_ada    Ada     Pictures  ready\n"))
        #expect(text.contains("ready         山田 花子\n     2 likes are not sent yet.\n"))
        #expect(text.contains("   unsplash     Bob[2J  Unsplash  rate-limited\n     The hour's"))
        // The details break where the width and the length of the time require it.
        let words = text.split { $0.isWhitespace }.joined(separator: " ")
        let time = Timestamp(secondsSince1970: Samples.retryAt).clock(now: now)
        #expect(time.count == (age == 0 ? 5 : 16))
        #expect(words.contains("Next try \(time). 2 of 50 requests left."))
        #expect(
            text.hasSuffix("\nNot configured: Unsplash. Run “imagefeedctl configure unsplash”.\n"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test(arguments: [
        ("offline", "The service cannot be reached.", 0 as Int64, "The service cannot be reached."),
        ("locked", "The keyring is locked.", 0, "The keyring is locked."),
        (
            "rate-limited", "Too many.", Samples.retryAt,
            "Too many. Next try \(Timestamp(secondsSince1970: Samples.retryAt).minute())."
        ),
        (
            "needs-login", "The service refused the token.", 0,
            "token. Log in with “imagefeedctl login p --account p_a”."
        ),
        ("failed", "Three responses were invalid.", 0, "Three responses were invalid."),
        ("logged-out", "", 0, "\tlogged-out\t\t\t\n"),
    ])
    func `status shows the reason of an account's state`(
        state: String, reason: String, retryAt: Int64, expected: String
    ) {
        var account = Samples.account("p_a", "p", label: "a", state: state, reason: reason)
        account["RetryAt"] = .int64(retryAt)
        account["RateLimit"] = nil
        let snapshot = Samples.snapshot(accounts: ["p_a": account])
        let screen = StatusScreen(snapshot: snapshot, now: Timestamp(secondsSince1970: 0))
        let text = screen.text(for: .pipe)
        #expect(text.contains("account\tp_a\ta\tp\t\(state)\t"))
        #expect(text.contains(expected))
        let lines = screen.text(for: terminal(80)).split(separator: "\n")
        #expect(lines.contains { $0.hasSuffix("  \(state)") })
    }

    /// A provider with a problem.
    private var broken: [String: Variant] {
        Samples.provider("p", "P", isConfigured: true).merging(
            ["State": .string("invalid"), "StateReason": .string("It is so.")]) { $1 }
    }

    @Test func `status states the problem of a provider once`() {
        let account = Samples.account("p_a", "p", label: "a", state: "failed", reason: "It is so.")
        let screen = StatusScreen(
            snapshot: Samples.snapshot(accounts: ["p_a": account], providers: ["p": broken]),
            now: Timestamp(secondsSince1970: 0))
        #expect(screen.text(for: terminal(80)).split(separator: "It is so.").count == 2)
    }

    @Test func `accounts carry the user's name and unsent likes`() throws {
        let list = AccountList(snapshot: Samples.snapshot)
        #expect(list.text(for: .pipe).contains("\tlocal_ada_2\t山田\tPictures\tready\t山田 花子\t2\n"))
        #expect(
            lines(list, 80)[0]
                == "   ACCOUNT      LABEL   PROVIDER  STATE         NAME       UNSENT")
        #expect(list.json.text.contains(#""Name":"山田 花子","Pending":["1","2"]}"#))
    }

    @Test func `status without accounts names the problems of providers`() {
        let unsplash = Samples.provider("unsplash", "Unsplash", isConfigured: false)
        let snapshot = Samples.snapshot(
            manager: Samples.snapshot.manager, providers: ["p": broken, "unsplash": unsplash])
        let text = StatusScreen(snapshot: snapshot, installedVersion: "1.2.3")
            .text(for: terminal(80))
        #expect(text.hasPrefix("Image Feed 1.2.3, online\n\nNot configured: Unsplash. Run"))
        #expect(text.contains("It is so."))
    }

    @Test func `status without accounts names the login command`() {
        let empty = DaemonMirror(
            manager: ["Version": .string("1"), "Online": .bool(false)], objects: [:])
        let advice = StatusScreen(snapshot: empty).loginAdvice
        #expect(advice.contains("imagefeedctl login PROVIDER"))
        #expect(StatusScreen(snapshot: Samples.snapshot).loginAdvice.contains("login local”"))
        #expect(StatusScreen(snapshot: empty).text(for: .pipe) == "daemon\t1\toffline\n")
    }

    @Test func `status shows messages about the network and the version`() {
        var manager = Samples.snapshot.manager
        manager["Online"] = .bool(false)
        let snapshot = DaemonMirror(manager: manager, objects: [:])
        let text = StatusScreen(snapshot: snapshot, installedVersion: "2").text(for: terminal(300))
        #expect(text.contains("The network is not available."))
        #expect(text.contains("“systemctl --user restart imagefeedd”"))
    }

    @Test func `a format is read by scalars`() throws {
        let format = try PhotoFormat("{title}\u{301}\\n\u{301}{b\u{301}}")
        #expect(format.line(Samples.entry("1", title: "t")) == "t\u{301}\n\u{301}{b\u{301}}\n")
        #expect(throws: (any Error).self) { try PhotoFormat("{nosuch}\u{301}") }
    }

    @Test func `status shows each notice in lines of its own`() {
        var manager = Samples.snapshot.manager
        manager["Notices"] = .array([.string("One."), .string("Two.")], of: "s")
        let snapshot = DaemonMirror(manager: manager, objects: [:])
        let text = StatusScreen(snapshot: snapshot, installedVersion: "1.2.3")
            .text(for: terminal(80))
        #expect(text.hasPrefix("Image Feed 1.2.3, online\nOne.\nTwo.\n"))
    }

    @Test(arguments: [40, 80])
    func `every result fits the terminal`(columns: Int) {
        let photos = ["42", "日本の山と湖の写真、とても長い題", "😀😀😀😀😀😀😀😀😀😀😀😀😀😀"].map {
            Samples.entry("1234", title: $0)
        }
        let sources = [
            Source(id: SourceID("album:日本"), title: String(repeating: "長", count: 60), kind: .album)
        ]
        let results: [any Renderable] = [
            StatusScreen(snapshot: Samples.snapshot), AccountList(snapshot: Samples.snapshot),
            ProviderList(providers: Samples.snapshot.providers),
            PhotoPage(photos: photos, next: ""), photos[1],
            SourceList(sources: sources, defaultSource: ""),
        ]
        #expect(results.flatMap { lines($0, columns) }.allSatisfy { $0.displayWidth <= columns })
    }

    @Test func `status and lists are valid JSON with the names of the D-Bus API`() throws {
        let json = StatusScreen(snapshot: Samples.snapshot).json.text
        let status = try #require(
            try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(status["Version"] as? String == "1.2.3")
        #expect((status["accounts"] as? [[String: Any]])?.count == 3)
        #expect((status["providers"] as? [[String: Any]])?.first?["Id"] as? String == "local")
        #expect(json.hasPrefix(#"{"Version":"1.2.3","DefaultAccount":"/org"#))
    }

    @Test func `pages of one feed share their layout`() {
        var layout: [VisibleColumn]?
        for (id, title, start) in [
            ("1", "long title", "PHOTO"), ("2", "t", "local_ada/2"), ("300", nil, "PHOTO"),
        ] {
            let page = PhotoPage(photos: [Samples.entry(id, title: title)], next: "")
            let table = page.table(for: terminal(80))
            #expect(table.text(for: terminal(80), continuing: &layout).hasPrefix(start))
        }
    }

    @Test func `a path is unchanged in a pipe`() {
        let path = PathBytes("/a\u{1B}b\nc")
        #expect(path.text(for: .pipe) == "/a\u{1B}b\nc\n")
        #expect(path.text(for: terminal(80)) == "/ab c\n")
    }

    @Test func `JSON contains the URI of a path that is not UTF-8`() {
        let path = PathBytes(bytes: Array("/a b/caf".utf8) + [0xE9])
        #expect(path.bytes(for: .pipe) == Array("/a b/caf".utf8) + [0xE9, 0x0A])
        #expect(
            path.json.text == "{\"path\":\"/a b/caf\u{FFFD}\",\"uri\":\"file:///a%20b/caf%E9\"}")
        #expect(PathBytes("/ä").json.text == #"{"path":"/ä"}"#)
    }

    @Test func `the confirmation question of a removal names the account`() throws {
        #expect(try Samples.snapshot.account("local_ada").removalQuestion.hasSuffix("(local_ada)?"))
    }

    @Test(arguments: [("y", true), ("Yes ", true), ("", false), ("no", false), (nil, false)])
    func `only y and yes are a confirmation`(reply: String?, isYes: Bool) {
        #expect(StandardInput.isYes(reply) == isYes)
    }

    @Test(arguments: [Int64.min, .max, -1])
    func `every time can be printed`(seconds: Int64) {
        #expect(!Timestamp(secondsSince1970: seconds).minute().isEmpty)
    }
}
