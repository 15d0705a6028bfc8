import Testing

@testable import ControlCommands

struct DisplayWidthTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("ｱ", 1), ("Ａ", 2), ("한글", 4),
        ("\u{1112}\u{1161}\u{11AB}", 2), ("🏔", 1), ("🏔\u{FE0F}", 2), ("😀", 2), ("👩‍👩‍👧", 2), ("🇨🇭", 2),
        ("👍🏽", 2), ("…", 1), ("\u{200B}", 0), ("क्षि", 3), ("ไทย", 3), ("×", 1), ("♥", 1), ("1", 1),
    ])
    func `the display width equals the columns on a terminal`(text: String, width: Int) {
        #expect(text.displayWidth == width)
    }

    @Test(arguments: [
        ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本の山", 8, "日本の山"), ("日本の山", 7, "日本の…"),
        ("日本の山", 6, "日本…"), ("😀😀", 3, "😀…"), ("👩‍👩‍👧👩‍👩‍👧", 2, "…"), ("abc", 1, "…"), ("abc", 0, ""),
        ("", 0, ""),
    ])
    func `text is truncated between characters to fit`(text: String, columns: Int, result: String) {
        #expect(text.truncated(to: columns) == result)
        #expect(text.truncated(to: columns).displayWidth <= columns)
    }

    @Test func `words are wrapped into lines`() {
        #expect("one two  three".wrapped(to: 7) == ["one two", "three"])
        #expect("日本 の山".wrapped(to: 8) == ["日本", "の山"])
        #expect("extraordinary".wrapped(to: 5) == ["extraordinary"])
        #expect("長い題名です".wrapped(to: 5) == ["長い", "題名", "です"])
        #expect("".wrapped(to: 5) == [])
    }
}
