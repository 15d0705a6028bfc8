import Testing

@testable import DBus

@Suite struct SignatureTests {
    @Test(arguments: [
        "", "s", "aa{sv}s", "(ss)", "a{s(ii)}", "h", "a{ha{vv}}".replacing("{vv}", with: "{sv}"),
        String(repeating: "a", count: 32) + "s",
        String(repeating: "(", count: 32) + "s" + String(repeating: ")", count: 32),
        String(repeating: "a{s(", count: 17) + "i" + String(repeating: ")}", count: 17),
        String(repeating: "s", count: 255),
    ])
    func `a valid signature is accepted`(text: String) throws {
        #expect(try Signature(text).text == text)
    }

    @Test(arguments: [
        "a", "{sv}", "()", "(s", "s)", "z", "a{vs}", "a{s}", "a{sss}", "a{sv", "a{", "é",
        String(repeating: "a", count: 33) + "s",
        String(repeating: "(", count: 33) + "s" + String(repeating: ")", count: 33),
        String(repeating: "s", count: 256),
    ])
    func `an invalid signature is rejected`(text: String) {
        #expect(throws: BusError.invalidName("signature", text)) { try Signature(text) }
    }

    @Test func `each Swift type has its signature and alignment`() {
        func check<Value: BusType>(_: Value.Type, _ text: String, _ alignment: Int) {
            #expect(Value.signature.text == text)
            #expect([Value.alignment, Value.signature.firstAlignment] == [alignment, alignment])
        }
        #expect(Signature(unchecked: "{sv}").firstAlignment == 8)
        check(BusStruct<UInt8>.self, "(y)", 8)
        check([String].self, "as", 4)
        check(UInt8.self, "y", 1)
        check(Bool.self, "b", 4)
        check(Int16.self, "n", 2)
        check(UInt16.self, "q", 2)
        check(Int32.self, "i", 4)
        check(UInt32.self, "u", 4)
        check(Int64.self, "x", 8)
        check(UInt64.self, "t", 8)
        check(Double.self, "d", 8)
        check(String.self, "s", 4)
        check(ObjectPath.self, "o", 4)
        check(Signature.self, "g", 1)
        check(FileDescriptor.self, "h", 4)
        check(Variant.self, "v", 1)
        check(AnyVariant.self, "v", 1)
        check([[UInt8]].self, "aay", 4)
        check([String: Variant].self, "a{sv}", 4)
        check(OrderedEntries<ObjectPath, [String]>.self, "a{oas}", 4)
        check(BusStruct<UInt32, UInt32, Int64>.self, "(uux)", 8)
    }
}
