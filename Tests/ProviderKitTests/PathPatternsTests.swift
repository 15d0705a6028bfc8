import ProviderKit
import Testing

@Suite struct PathPatternsTests {
    @Test(arguments: [
        ("*.gif", "a.gif"), ("*.gif", "x/y/a.gif"), ("Private", "x/Private/a.jpg"),
        ("Private/", "Private/a.jpg"), ("Private/", "x/Private/a.jpg"),
        ("/Private", "Private/a.jpg"), ("./x/*", "x/a.jpg"),
        ("2019/*/raw", "2019/may/raw/a.jpg"), ("2019/**/raw", "2019/raw/a.jpg"),
        ("2019/**/raw", "2019/a/b/raw/c.jpg"), ("**/raw", "raw"), ("x/**", "x/a/b.jpg"),
        ("IMG_?.jpg", "IMG_ä.jpg"), ("[ab]*.jpg", "b1.jpg"), ("[!ab]*.jpg", "c1.jpg"),
        ("[a-c].jpg", "b.jpg"), ("[x", "[x"), ("\\*.jpg", "*.jpg"), ("a\\;b;c", "a;b"),
        ("a\\;b;c", "c"), (" x ; y ", "y"), ("*a*b*", "xaxxbx"), ("**a*b", "x/ab/acb"),
        ("\u{e4}*.jpg", "a\u{308}1.jpg"), ("a\u{308}?.jpg", "\u{e4}u\u{308}.jpg"),
    ])
    func `a path matches`(list: String, path: String) {
        #expect(PathPatterns(list: list).contains(Array(path.utf8)))
    }

    @Test(arguments: [
        ("", "a"), (";; /;", "a"), ("*.gif", "a.gif.jpg"), ("*.gif", "a.GIF"),
        ("/Private", "x/Private/a.jpg"), ("x/*", "y/x/a.jpg"), ("2019/*/raw", "2019/a/b/raw"),
        ("?", "ab"), ("[!a]", "a"), ("a?b", "a/b"), ("**/raw", "xraw"), ("\\*.jpg", "a.jpg"),
        ("x/*y", "x/a/y"), ("a", "ab"), ("ab", "a"),
    ])
    func `a path does not match`(list: String, path: String) {
        #expect(!PathPatterns(list: list).contains(Array(path.utf8)))
    }

    @Test func `names may be invalid UTF-8`() {
        #expect(PathPatterns(list: "*.gif").contains([0xff, 0x2e, 0x67, 0x69, 0x66]))
    }

    @Test func `a list of patterns is read as written`() {
        let list = PathPatterns.list(of: ["a;b", "c"])
        #expect(list == "a\\;b;c" && PathPatterns.list(of: ["a\\;b", "c"]) == list)
        #expect(PathPatterns(list: list).contains(Array("a;b".utf8)))
    }

    @Test(arguments: [
        ("trail ", "trail "), (" lead", " lead"), (" ", " "), (" a  ", " a  "), ("b\\ ", "b "),
        ("c\\\\ ", "c\\ "), ("trail /", "trail "),
    ])
    func `blanks around a pattern of a list are part of it`(pattern: String, name: String) {
        let patterns = PathPatterns(list: PathPatterns.list(of: [pattern]))
        #expect(patterns.contains(Array(name.utf8)))
    }

    @Test func `a pattern with many stars is compared in a short time`() {
        let list = String(repeating: "*a", count: 100) + "b"
        let path = [UInt8](repeating: UInt8(ascii: "a"), count: 4000)
        #expect(!PathPatterns(list: list).contains(path))
    }
}
