import Contract
import DBus
import Testing

@testable import ControlCommands

/// Tests of the values and the text of the slideshow commands.
struct SlideshowValueTests {
    @Test(
        arguments: [
            ("0", 0), ("0s", 0), ("5s", 5), ("90s", 90), ("30m", 1800), ("2h", 7200),
            ("1193046h", 4_294_965_600), ("4s", nil), ("30", nil), ("", nil), ("s", nil),
            ("-5s", nil),
            ("1.5h", nil), ("5 s", nil), ("5S", nil), ("1193047h", nil), ("+5s", nil), ("٥s", nil),
        ] as [(String, UInt32?)])
    func `an interval is a number with a unit, or 0`(text: String, seconds: UInt32?) {
        #expect((try? SlideshowSetCommand.seconds(ofInterval: text)) == seconds)
    }

    @Test(
        arguments: [
            (0, "0"), (5, "5s"), (90, "90s"), (1800, "30m"), (5400, "90m"), (7200, "2h"),
        ] as [(UInt32, String)])
    func `an interval is printed in the largest unit`(seconds: UInt32, text: String) {
        #expect(SlideshowSetCommand.text(ofInterval: seconds) == text)
    }

    @Test(
        arguments: [
            ("combined", nil, ""), ("combined:likes", nil, "likes"), ("local_ada", "local_ada", ""),
            ("local_ada:", "local_ada", ""), ("local:album:a:b", "local", "album:a:b"),
        ] as [(String, String?, String)])
    func `a source ends at the first colon`(text: String, account: String?, source: String) throws {
        let value = try SlideshowSource(text)
        #expect((value.account, value.source) == (account, source))
    }

    @Test(
        arguments: [
            ("swaybg", ["swaybg"]), ("  swaybg -m  fill\t-i ", ["swaybg", "-m", "fill", "-i"]),
            ("a 'b c' \"d e\"", ["a", "b c", "d e"]), ("a b\\ c", ["a", "b c"]),
            ("a '' \"\"", ["a", "", ""]), ("a b'c'\"d\"e", ["a", "bcde"]),
            (#"a "\"\\\n" '\"'"#, ["a", #""\\n"#, #"\""#]), ("a $HOME `b` $(c) ; d", nil),
            ("a \\", ["a", "\\"]), ("'my program' é", ["my program", "é"]),
        ] as [(String, [String]?)])
    func `a command is split without expansion`(text: String, words: [String]?) throws {
        let expected = words ?? text.split(separator: " ").map(String.init)
        #expect(try ShellWords.command(text) == expected)
    }

    @Test(arguments: ["", "  ", "''", "'a", "a \"b"])
    func `an empty command or an open quotation mark is an error`(text: String) {
        #expect(throws: (any Error).self) { try ShellWords.command(text) }
    }

    @Test(arguments: [40, 80])
    func `the state fits the terminal`(columns: Int) {
        var photo = Samples.photo("local_ada/cac9a20756bcd20e", title: "A title\u{1B}[2J")
        photo["title"] = .string(String(repeating: "word ", count: 40))
        let entries = photo.map { Variant.Entry(key: .string($0.key), value: .variant($0.value)) }
        let slideshow = SlideshowProperties(
            ServiceName.slideshow,
            [
                "Photo": .dictionary(entries, key: "s", value: "v"),
                "Image": .string("/images/cac9a20756bcd20e.jpg"),
                "Interval": .uint32(1800), "ImageSize": .string("regular"),
                "Source": .structure([.objectPath(ServiceName.combined), .string("")]),
                "Hidden": .array([.string("local_ada/1")], of: "s"),
            ])
        let target = OutputTarget.terminal(columns: columns, isColoured: false)
        let lines = slideshow.text(for: target).split(separator: "\n")
        #expect(lines.first == "Photo      local_ada/cac9a20756bcd20e")
        #expect(lines.allSatisfy { $0.displayWidth <= columns })
        let line = SlideshowPhoto(slideshow).text(for: target)
        #expect(line.dropLast().displayWidth <= columns)
        #expect(line.hasPrefix("local_ada/cac9a20756bcd20e  word word"))
    }

    @Test func `the list has short references to accounts only on a terminal`() {
        let sources = ["", "album:City lights"].map { source in
            Variant.structure([
                .objectPath(ServiceName.accounts.appending("unsplash_bob")), .string(source),
            ])
        }
        let list = SlideshowList(
            slideshows: [
                SlideshowProperties(ServiceName.slideshow, ["Sources": .array(sources, of: "(os)")])
            ], shortIDs: Samples.snapshot.shortIDs)
        let text = list.text(for: .terminal(columns: 80, isColoured: false))
        #expect(text.contains("(default)  unsplash, unsplash:album:City lights"))
        let fields = list.text(for: .pipe)
        #expect(fields.contains("\tunsplash_bob, unsplash_bob:album:City lights\t"))
    }
}
