import JSONFormat
import Testing

struct JSONTests {
    private func parse(_ text: String) throws -> JSON {
        try JSON(parsing: Array(text.utf8))
    }

    @Test(arguments: [
        ("null", JSON.null),
        (" [1, -2,0 ] ", .array([.integer(1), .integer(-2), .integer(0)])),
        ("\"\\u00e4\\ud83d\\ude00\"", .string("ä😀")),
        (#"{"a":{"b":[true]}}"#, .object(["a": .object(["b": .array([.bool(true)])])])),
        ("1.5e1", .number(15)), ("9223372036854775807", .integer(.max)),
        ("9223372036854775808", .number(9_223_372_036_854_775_808)),
    ])
    func `valid JSON is parsed and written`(_ text: String, _ value: JSON) throws {
        #expect(try parse(text) == value)
        #expect(try JSON(parsing: value.line.dropLast()) == value)
    }

    @Test(arguments: [
        "", "nul", "01", "1.", "-", "[1,]", "[1", #"{"a":1,"a":2}"#, #"{"a" 1}"#, "\"\u{01}\"",
        #""\ud800""#, #""\x""#, "1 2", "1e999", String(repeating: "[", count: 100), "\"", "{a:1}",
    ])
    func `invalid JSON is refused`(_ text: String) {
        #expect(throws: JSONSyntaxError.self) { try parse(text) }
    }

    /// Texts are read in blocks of bytes, in which a special byte may be at any position.
    @Test func `invalid UTF-8 is refused at every position`() {
        for length in 0..<20 {
            for place in 0...length {
                for escape in ["", "\\n"] {
                    var text = Array(repeating: UInt8(ascii: "a"), count: length) + escape.utf8
                    text.insert(0xff, at: place)
                    let quote = [UInt8(ascii: "\"")]
                    #expect(throws: JSONSyntaxError.self) {
                        try JSON(parsing: quote + text + quote)
                    }
                }
            }
        }
    }

    @Test(arguments: [
        "\"", "\\", "\n", "\u{1}", "\u{1f}", "\u{7f}", "é", "\u{2028}", "😀", "!", " ",
        "\"b\\c\nd\u{1}",
    ])
    func `strings are preserved with a special character at every position`(_ character: String)
        throws
    {
        for length in 0..<20 {
            for place in 0...length {
                let around = String(repeating: "a", count: place)
                let text = around + character + String(repeating: character, count: length - place)
                let line = JSON.array([.string(text + around), .string("")]).line.dropLast()
                #expect(line.allSatisfy { $0 >= 0x20 })
                #expect(
                    try JSON(parsing: line) == .array([.string(text + around), .string("")]))
            }
        }
    }

    @Test(arguments: [2, 8, 9, 100])
    func `an object with two members of the same name is refused`(_ count: Int) throws {
        var members = (0..<count).map { "\"\($0)\":0" }
        #expect(try parse("{\(members.joined(separator: ","))}").members.count == count)
        members[count - 1] = members[0]
        #expect(throws: JSONSyntaxError.self) { try parse("{\(members.joined(separator: ","))}") }
    }

    @Test func `objects keep the order of their members`() throws {
        let text = #"{"b":1,"a":{"d":[],"c":null},"B":"x"}"#
        #expect(try parse(text).line == Array("\(text)\n".utf8))
    }

    @Test func `an object in the code has no members that are null`() {
        let value: JSON = ["a": JSON(nil as String?), "b": JSON(7), "c": .null]
        #expect(value == .object([.init("b", 7)]))
    }

    @Test func `a document of many values is refused`() throws {
        let values = Array(repeating: "1", count: 1 << 16).joined(separator: ",")
        #expect(throws: JSONSyntaxError.self) { try parse("[\(values)]") }
        #expect(try parse("[\(values.dropLast(2))]").elements.count == 1 << 16 - 1)
    }

    @Test func `the depth of a document is limited`() throws {
        let nested = { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
        #expect(throws: JSONSyntaxError.self) { try parse(nested(33)) }
        _ = try parse(nested(32))
        _ = try JSON(parsing: Array(nested(40).utf8), depth: 40)
    }

    // MARK: Documents of other programs

    @Test(arguments: [
        (#"{"a":"\ud800x"}"#, "\u{fffd}x"), (#"{"a":"\ud800\u0041"}"#, "\u{fffd}A"),
        (#"{"a":"\udc00\ud83d\ude00"}"#, "\u{fffd}😀"), (#"{"a":"1","a":"2"}"#, "1"),
        ("\u{feff}{\"a\":\"1\",\"b\":1e999}", "1"),
    ])
    func `a document of another program may have small errors`(json: String, text: String) {
        #expect(JSON.decode(json.utf8) == Named(a: text))
    }

    private struct Named: Decodable, Equatable {
        let a: String
    }

    @Test func `invalid bytes of a text are replaced`() {
        #expect(JSON.decode([0x22, 0x61, 0xff, 0x22]) == "a\u{fffd}")
    }

    @Test(arguments: ["", "[", "[1,]", "nul", "{\"a\":\"\n\"}", "[1] 2", #"["\ud800\u00"]"#])
    func `an invalid document is not decoded`(json: String) {
        #expect(JSON.decode(json.utf8) as [Int?]? == nil)
        #expect(JSON.decode(json.utf8) as Named? == nil)
    }

    @Test func `the levels of a document of another program are limited`() {
        let nested = { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
        #expect(JSON.decode(nested(64).utf8) as [Nothing]? != nil)
        #expect(JSON.decode(nested(65).utf8) as [Nothing]? == nil)
    }

    private struct Nothing: Decodable {}

    @Test func `values are decoded as the types that hold them`() {
        #expect(JSON.decode("[1,-2.0,3e2]".utf8) == [1, -2, 300])
        #expect(JSON.decode("[1,2.5]".utf8) == [1, 2.5] as [Double])
        #expect(JSON.decode("[1,null]".utf8) == [1, nil] as [Int?])
        #expect(JSON.decode(#"{"a":[true]}"#.utf8) == ["a": [true]])
        #expect(JSON.decode("[2.5]".utf8) as [Int]? == nil)
        #expect(JSON.decode("[256]".utf8) as [UInt8]? == nil)
        #expect(JSON.decode(#"["1"]"#.utf8) as [Int]? == nil)
        #expect(JSON.decode("[true]".utf8) as [Int]? == nil)
        #expect(JSON.decode("{}".utf8) as Named? == nil)
        #expect(JSON.decode(#"{"a":null}"#.utf8) as Named? == nil)
    }
}
