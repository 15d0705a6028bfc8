import Glibc
import TestSupport
import Testing

@testable import DBus

/// Tests of call options, of which only the known ones are decoded.
@Suite struct CallOptionsTests {
    enum Key: String {
        case name
        case file
        case flag
    }

    private func read(_ options: [String: Variant]) throws -> CallOptions<Key> {
        try BusMessage(.test, options).read()
    }

    @Test func `known options are read, unknown ones are ignored`() throws {
        let options = try read([
            "name": .string("ada"), "flag": .bool(true), "other": .string("x"),
            "more": .array([.byte(1)], of: "y"),
        ])
        #expect(try options.value(.name, "s", \.string) == "ada")
        #expect(try options.value(.flag, "b", \.bool) == true)
        #expect(try options.value(.file, "h", \.fileDescriptor) == nil)
    }

    @Test(arguments: [
        Variant.uint32(1), .array([.string("x")], of: "s"), .structure([.string("x")]),
        .variant(.string("x")), .dictionary([], key: "s", value: "v"),
        .string(String(repeating: "x", count: 65537)),
    ])
    func `a known option of another type is an invalid argument`(value: Variant) throws {
        let options = try read(["name": value])
        let error = #expect(throws: ErrorReply.self) { try options.value(.name, "s", \.string) }
        #expect(error?.name == .invalidArgs)
        #expect(error?.message == "The option \"name\" must have the type s.")
    }

    @Test func `the later of two entries with one key is used`() throws {
        for isLast in [false, true] {
            let values: [Variant] = [.array([], of: "y"), .string("x")]
            let entries = (isLast ? values : values.reversed()).map { (key: "name", value: $0) }
            let options: CallOptions<Key> = try BusMessage(.test, OrderedEntries(entries)).read()
            if isLast {
                #expect(try options.value(.name, "s", \.string) == "x")
            } else {
                #expect(throws: ErrorReply.self) { try options.value(.name, "s", \.string) }
            }
        }
    }

    @Test func `more than 64 options are rejected`() throws {
        let some = Dictionary(uniqueKeysWithValues: (1...64).map { ("\($0)", Variant.byte(0)) })
        _ = try read(some)
        #expect(throws: BusError.self) { try read(some.merging(["65": .byte(0)]) { $1 }) }
    }

    @Test func `only the descriptor of a known option is duplicated`() throws {
        let file = try descriptor(holding: "")
        let message = try BusMessage(
            .test,
            [
                "file": .fileDescriptor(file), "other": .fileDescriptor(file),
                "list": .array([.fileDescriptor(file), .fileDescriptor(file)], of: "h"),
            ] as [String: Variant])
        let before = try references(to: file)
        let options: CallOptions<Key> = try message.read()
        #expect(try references(to: file) == before + 1)
        withExtendedLifetime(options) {}
    }

    // Other tests increase the memory of this process.
    @Test func `an unknown large value is not decoded`() async {
        await #expect(processExitsWith: .success) {
            await recordErrors {
                let bytes = [UInt8](repeating: 0, count: 4 << 20)
                let entries = OrderedEntries([(key: "other", value: AnyVariant(bytes))])
                let message = try BusMessage(.test, entries)
                let before = try peakMebibytes()
                let options: CallOptions<Key> = try message.read()
                #expect(try options.value(.name, "s", \.string) == nil)
                // Decoded, it would be 160 MiB.
                #expect(try peakMebibytes() - before < 40)
            }
        }
    }
}

private func peakMebibytes() throws -> Int {
    var usage = rusage()
    try #require(getrusage(RUSAGE_SELF.rawValue, &usage) == 0)
    return usage.ru_maxrss >> 10
}
