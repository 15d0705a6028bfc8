import Testing

@testable import DBus

/// Source of the expected bytes: D-Bus specification, "Marshalling (Wire Format)", on a little-endian machine.
@Suite struct EncoderTests {
    @Test func `numbers are aligned to their size`() throws {
        let bytes = try encoded(1 as UInt8, 0x0203 as UInt16, true, -1 as Int32, 4 as UInt64)
        #expect(
            bytes == [
                1, 0, 3, 2, 1, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0,
            ])
        #expect(try encoded(1.5) == [0, 0, 0, 0, 0, 0, 0xf8, 0x3f])
    }

    @Test func `strings have a length and a NUL`() throws {
        #expect(try encoded("foo", "") == [3, 0, 0, 0, 0x66, 0x6f, 0x6f, 0, 0, 0, 0, 0, 0])
        #expect(try encoded("/a" as ObjectPath) == [2, 0, 0, 0, 0x2f, 0x61, 0])
        #expect(try encoded("as" as Signature) == [2, 0x61, 0x73, 0])
    }

    @Test func `an array counts its elements without the padding before the first`() throws {
        #expect(try encoded([5 as Int64]) == [8, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0])
        #expect(try encoded([Int64]()) == [0, 0, 0, 0, 0, 0, 0, 0])
        #expect(try encoded([UInt8]()) == [0, 0, 0, 0])
    }

    @Test func `structs and dictionary entries are aligned to eight bytes`() throws {
        #expect(
            try encoded(1 as UInt8, BusStruct(2 as UInt8, 3 as UInt8)) == [
                1, 0, 0, 0, 0, 0, 0, 0, 2, 3,
            ])
        #expect(try encoded(["a": 7 as UInt8]) == [7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x61, 0, 7])
    }

    @Test func `a variant contains its signature`() throws {
        #expect(try encoded(Variant.uint32(9)) == [1, 0x75, 0, 0, 9, 0, 0, 0])
        #expect(try encoded(AnyVariant(9 as UInt32)) == [1, 0x75, 0, 0, 9, 0, 0, 0])
    }

    @Test func `an entry of any type equals that of a dictionary`() throws {
        let path: ObjectPath = "/b"
        for (bytes, dictionary): ([UInt8], [String: Variant]) in [
            (try entries { $0.entry(.init("a"), 7 as UInt32) }, ["a": .uint32(7)]),
            (try entries { $0.entry(.init("ab"), -7 as Int64) }, ["ab": .int64(-7)]),
            (try entries { $0.entry(.init("ab"), true) }, ["ab": .bool(true)]),
            (try entries { try $0.entry(.init("ab"), "é") }, ["ab": .string("é")]),
            (try entries { try $0.entry(.init("a"), path) }, ["a": .objectPath(path)]),
        ] { #expect(bytes == (try encoded(dictionary))) }
    }

    @Test func `entries with unknown values are omitted`() throws {
        let bytes = try entries {
            try $0.entry(.init("a"), "b")
            try $0.entry(.init("ab"), nil as String?)
            $0.entry(.init("ab"), nil as Int64?)
            $0.entry(.init("ab"), nil as UInt32?)
            $0.entry(.init("ab"), nil as Bool?)
            $0.entry(.init("ab"), 7 as Int64)
        }
        let dictionary = OrderedEntries([("a", Variant.string("b")), ("ab", Variant.int64(7))])
        #expect(bytes == (try encoded(dictionary)))
    }

    @Test func `a string with a NUL is rejected`() {
        #expect(throws: BusError.invalidValue("a string contains a NUL character")) {
            try encoded("a\0b")
        }
    }

    @Test func `an array of more than 64 MiB is rejected`() {
        let half = String(repeating: "x", count: 33 << 20)
        #expect(throws: BusError.tooLarge) { try encoded([half, half]) }
    }

    @Test func `a message of more than 128 MiB is rejected`() {
        let half = String(repeating: "x", count: 65 << 20)
        #expect(throws: BusError.tooLarge) { try BusMessage(.test, half, half) }
    }

    @Test func `a signature of more than 255 bytes is rejected`() {
        let wide = Variant.structure(Array(repeating: .byte(0), count: 300))
        #expect(throws: BusError.self) { try BusMessage(.test, wide) }
        #expect(throws: BusError.self) { try BusMessage(.test, AnyVariant(wide)) }
    }

    @Test func `values nested too deeply are rejected`() {
        let deep = (0..<80).reduce(Variant.byte(0)) { value, _ in .variant(value) }
        let error = #expect(throws: BusError.self) { try BusMessage(.test, deep) }
        guard case .invalidValue = error else {
            Issue.record("\(String(describing: error)) does not say what is wrong")
            return
        }
    }

    @Test func `a value that contains an invalid path is rejected`() {
        #expect(throws: BusError.self) { try BusMessage(.test, ObjectPath(unchecked: "no path")) }
    }
}

extension MessageHeader {
    static let test = MessageHeader.signal("/", "a.b", "C")
}

private func entries(_ body: (inout Encoder) throws -> Void) throws -> [UInt8] {
    var encoder = Encoder()
    let start = encoder.beginArray(alignment: 8)
    try body(&encoder)
    try encoder.endArray(start)
    return encoder.bytes
}

private func encoded<each Value: BusType>(_ values: repeat each Value) throws -> [UInt8] {
    var encoder = Encoder()
    for value in repeat each values { try value.encode(into: &encoder) }
    return encoder.bytes
}
