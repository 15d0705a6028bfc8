import FoundationEssentials
import ProviderKit
import Testing

struct LenientDecodingTests {
    private struct Record: Decodable {
        let text: String?
        let number: Double?
        let integer: Int?
        let flag: Bool?

        private enum CodingKeys: CodingKey { case text, number, integer, flag }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            text = values.lenient(.text)
            number = values.lenientNumber(.number)
            integer = values.lenientInteger(.integer)
            flag = values.lenientFlag(.flag)
        }
    }

    private func decode<Value: Decodable>(_ json: String, as type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    @Test func `members are decoded from the types that services use`() throws {
        let record = try decode(
            #"{"text":"a","number":"1.5","integer":2.0,"flag":"1"}"#, as: Record.self)
        #expect(record.text == "a")
        #expect(record.number == 1.5)
        #expect(record.integer == 2)
        #expect(record.flag == true)
    }

    @Test(arguments: [
        #"{"text":1,"number":"many","integer":"1e999","flag":"yes"}"#,
        #"{"text":null,"number":null,"integer":{},"flag":[]}"#, "{}",
    ])
    func `a member of another type is nil`(json: String) throws {
        let record = try decode(json, as: Record.self)
        #expect(record.text == nil)
        #expect(record.number == nil)
        #expect(record.integer == nil)
        #expect(record.flag == nil)
    }

    @Test func `an invalid element is left out of a list`() throws {
        #expect(try decode(#"[1,"a",null,2]"#, as: LenientList<Int>.self).elements == [1, 2])
    }

    @Test(arguments: [("[]", false), (#"["a"]"#, true), (#"["a",1]"#, false)])
    func `a list without a valid element is unreadable`(json: String, isUnreadable: Bool) throws {
        #expect(try decode(json, as: LenientList<Int>.self).isUnreadable == isUnreadable)
    }

    @Test func `a value that is not an array is an error`() {
        #expect(throws: DecodingError.self) {
            try decode(#"{"a":1}"#, as: LenientList<Int>.self)
        }
    }
}
