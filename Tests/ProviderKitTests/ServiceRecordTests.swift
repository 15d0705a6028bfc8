import JSONFormat
import ProviderKit
import Testing

struct ServiceRecordTests {
    private func decode<Value: Decodable>(_ json: String, as type: Value.Type) throws -> Value {
        try #require(JSON.decode(json.utf8))
    }

    @Test func `members are decoded from the types that services use`() throws {
        let record = try decode(
            #"{"text":"a","number":"1.5","integer":2.0,"flag":"1"}"#, as: ServiceRecord.self)
        #expect(record.text("text") == "a")
        #expect(record.number("number") == 1.5)
        #expect(record.integer("integer") == 2)
        #expect(record.flag("flag") == true)
    }

    @Test(arguments: [
        #"{"text":1,"number":"many","integer":"1e999","flag":"yes"}"#,
        #"{"text":null,"number":null,"integer":{},"flag":[]}"#, "{}",
    ])
    func `a member of another type is nil`(json: String) throws {
        let record = try decode(json, as: ServiceRecord.self)
        #expect(record.text("text") == nil)
        #expect(record.number("number") == nil)
        #expect(record.integer("integer") == nil)
        #expect(record.flag("flag") == nil)
    }

    @Test func `members of members are decoded after the decoder is gone`() throws {
        let json = #"{"user":{"name":" A\tB ","since":"1970-01-01T00:00:07Z"},"list":[{"n":1},2]}"#
        let record = try decode(json, as: ServiceRecord.self)
        #expect(record.record("user")?.line("name") == "A B")
        #expect(record.record("user")?.time("since") == Timestamp(secondsSince1970: 7))
        #expect(record.records("list")?.map { $0.count("n") } == [1])
        #expect(record.record("list") == nil && record.records("user") == nil)
        #expect(try record.required("list", as: LenientList<Int>.self).elements == [2])
        #expect(throws: DecodingError.self) { try record.required("missing", as: Int.self) }
    }

    @Test func `an invalid element is left out of a list`() throws {
        #expect(try decode(#"[1,"a",null,2]"#, as: LenientList<Int>.self).elements == [1, 2])
    }

    @Test(arguments: [("[]", false), (#"["a"]"#, true), (#"["a",1]"#, false)])
    func `a list without a valid element is unreadable`(json: String, isUnreadable: Bool) throws {
        #expect(try decode(json, as: LenientList<Int>.self).isUnreadable == isUnreadable)
    }

    @Test(arguments: [#"{"a":1}"#, "1", "null", "["])
    func `a value that is not an array is not decoded as one`(json: String) {
        #expect(JSON.decode(json.utf8) as LenientList<Int>? == nil)
    }
}
