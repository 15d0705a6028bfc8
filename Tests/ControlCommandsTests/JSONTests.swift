import Contract
import DBus
import Foundation
import JSONFormat
import Testing

@testable import ControlCommands

struct JSONTests {
    @Test(arguments: [
        ("", #""""#), ("a\"b\\c", #""a\"b\\c""#), ("\n\r\t", #""\n\r\t""#),
        ("\u{0}\u{1B}\u{7F}\u{9B}", #""\u0000\u001b\u007f\u009b""#),
        ("\u{2028}\u{202E}", #""\u2028\u202e""#), ("日本😀é", "\"日本😀é\""), ("</a>", "\"</a>\""),
    ])
    func `strings are escaped`(string: String, expected: String) throws {
        #expect(JSON.string(string).text == expected)
        let parsed = try JSONSerialization.jsonObject(
            with: Data(expected.utf8), options: .fragmentsAllowed)
        #expect(parsed as? String == string)
    }

    @Test func `64-bit integers keep their value`() {
        #expect(JSON(Variant.int64(.min)).text == "-9223372036854775808")
        #expect(JSON(Variant.uint64(1 << 63 - 1)).text == "9223372036854775807")
    }

    @Test func `an infinite number becomes null`() {
        #expect(JSON(Variant.double(.infinity)).text == "null")
        #expect(JSON(Variant.double(0.5)).text == "0.5")
    }

    @Test func `D-Bus values become JSON values`() {
        let value = Variant.structure([
            .uint32(1), .bool(true), .array([.string("a")], of: "s"), .objectPath("/a/b"),
            .variant(.int16(-1)),
            .dictionary(
                [.init(key: .string("k"), value: .variant(.byte(7)))], key: "s", value: "v"),
            .array([], of: "s"), .dictionary([], key: "s", value: "v"),
        ])
        #expect(JSON(value).text == #"[1,true,["a"],"/a/b",-1,{"k":7},[],{}]"#)
    }

    @Test func `keys have the documented order, followed by unknown keys`() {
        let photo: [String: Variant] = [
            "zz": .byte(1), "liked": .bool(false), "title": .string("t"), "id": .string("1"),
            "aa": .byte(2), "account": .objectPath("/a"),
        ]
        #expect(
            JSON.object(JSON.members(photo, order: PhotoEntry.keys)).text
                == #"{"id":"1","account":"/a","title":"t","liked":false,"aa":2,"zz":1}"#)
        #expect(
            PhotoEntry(photo)?.json.text
                == #"{"id":"1","account":"/a","title":"t","liked":false,"pending":false}"#)
    }

    @Test func `an empty page is an object with both keys`() {
        #expect(PhotoPage(photos: [], next: "").json.text == #"{"photos":[],"next":""}"#)
    }
}
