import Testing

@testable import DBus

@Suite struct VariantTests {
    static let everyKind: [Variant] = [
        .byte(1), .bool(true), .bool(false), .int16(-2), .uint16(3), .int32(-4), .uint32(5),
        .int64(.min), .uint64(.max), .double(0.1), .string("ä€😀"), .string(""),
        .objectPath("/a/b"), .signature("a{sv}"), .signature(""), .variant(.variant(.byte(1))),
        .array([], of: "(iv)"), .array([.byte(1), .byte(2)], of: "y"),
        .array([.array([.string("x")], of: "s")], of: "as"),
        .dictionary([], key: "s", value: "v"),
        .dictionary(
            [
                .init(key: .uint32(2), value: .string("b")),
                .init(key: .uint32(1), value: .string("a")),
            ],
            key: "u", value: "s"),
        .structure([.byte(1), .structure([.int64(2), .string("c")])]),
        .array([.structure([.byte(1), .variant(.double(2))])], of: "(yv)"),
    ]

    @Test(arguments: everyKind)
    func `a variant survives marshalling`(variant: Variant) throws {
        let message = try BusMessage(.test, variant, "next", AnyVariant(variant))
        let (first, next, second): (Variant, String, Variant) = try message.read()
        #expect(first == variant)
        #expect(next == "next")
        #expect(second == .variant(variant))
    }

    @Test(arguments: [
        Variant.array([.byte(1), .string("s")], of: "y"),
        .dictionary([.init(key: .byte(1), value: .byte(1))], key: "s", value: "y"),
        .structure([]), .array([], of: ""), .array([], of: "ss"),
        .dictionary([], key: "v", value: "s"), .string("\0"), .array([.string("\0")], of: "s"),
    ])
    func `a variant that D-Bus cannot represent is rejected`(variant: Variant) {
        #expect(throws: BusError.self) { try BusMessage(.test, variant) }
    }

    @Test func `the accessors of a variant return its value or nil`() {
        #expect(Variant.string("a").string == "a")
        #expect(Variant.bool(true).bool == true)
        #expect(Variant.uint32(1).uint32 == 1)
        #expect(Variant.int64(1).int64 == 1)
        #expect(Variant.objectPath("/").objectPath == "/")
        #expect(Variant.array([.string("a")], of: "s").strings == ["a"])
        #expect(Variant.byte(1).string == nil)
        #expect(Variant.array([.byte(1)], of: "y").strings == nil)
    }

    @Test func `ordered entries keep their order`() throws {
        let entries = OrderedEntries((0..<50).map { (key: "k\($0)", value: UInt32($0)) })
        let expected = (0..<50).map {
            Variant.Entry(key: .string("k\($0)"), value: .uint32(UInt32($0)))
        }
        #expect(
            try BusMessage(.test, entries).values == [.dictionary(expected, key: "s", value: "u")])
    }

    @Test func `reading values of other types fails`() throws {
        let message = try BusMessage(.test, "a", 1 as UInt32)
        #expect(throws: BusError.invalidValue("expected (s), found (su)")) {
            let _: String = try message.read()
        }
        #expect(throws: BusError.self) { let _: (String, Int32) = try message.read() }
        #expect(throws: BusError.self) { let _: Void = try message.read() }
    }
}
