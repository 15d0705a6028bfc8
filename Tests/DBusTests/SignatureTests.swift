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

    @Test(arguments: [
        ("y", 1), ("g", 1), ("v", 1), ("n", 2), ("q", 2), ("i", 4), ("u", 4), ("b", 4), ("s", 4),
        ("o", 4), ("h", 4), ("as", 4), ("x", 8), ("t", 8), ("d", 8), ("(y)", 8), ("{sv}", 8),
    ])
    func `each type has its alignment`(text: String, alignment: Int) {
        #expect(Signature(unchecked: text).firstAlignment == alignment)
    }

    @Test func `each Swift type has its signature and alignment`() {
        func check<Value: BusType>(_: Value.Type, _ text: String) {
            #expect(Value.signature.text == text)
            #expect(Value.alignment == Value.signature.firstAlignment)
        }
        check(UInt8.self, "y")
        check(Bool.self, "b")
        check(Int16.self, "n")
        check(UInt16.self, "q")
        check(Int32.self, "i")
        check(UInt32.self, "u")
        check(Int64.self, "x")
        check(UInt64.self, "t")
        check(Double.self, "d")
        check(String.self, "s")
        check(ObjectPath.self, "o")
        check(Signature.self, "g")
        check(FileDescriptor.self, "h")
        check(Variant.self, "v")
        check(AnyVariant.self, "v")
        check([[UInt8]].self, "aay")
        check([String: Variant].self, "a{sv}")
        check(OrderedEntries<ObjectPath, [String]>.self, "a{oas}")
        check(BusStruct<UInt32, UInt32, Int64>.self, "(uux)")
    }
}
