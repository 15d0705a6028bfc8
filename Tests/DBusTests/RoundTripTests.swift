import DBus
import TestSupport
import Testing

@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct RoundTripTests {
    @Test func `a value of every type survives a round trip`() async throws {
        let echo = try Echo()
        try await echo.check([0, 1, UInt8.max])
        try await echo.check([true, false])
        try await echo.check([Int16.min, 0, .max])
        try await echo.check([UInt16.max])
        try await echo.check([Int32.min, .max])
        try await echo.check([UInt32.max])
        try await echo.check([Int64.min, .max])
        try await echo.check([UInt64.max])
        try await echo.check([0.0, -0.1, .infinity, .greatestFiniteMagnitude])
        try await echo.check([
            "", "ä€😀", "\u{FEFF}\u{FFFE}\n", String(repeating: "x", count: 100_000),
        ])
        try await echo.check(["/", "/a/b_1" as ObjectPath])
        try await echo.check(["", "a{s(ii)}v" as Signature])
        try await echo.check([[], [1, 2, 3 as Int64]])
        try await echo.check([[["a"], []], [[String]]()])
        try await echo.check([["a": 1, "b": 2], [String: UInt8]()])
        try await echo.check([[1: ["a": .byte(1)], 2: [:]] as [UInt64: [String: Variant]]])
        try await echo.check(VariantTests.everyKind)
    }

    @Test func `structs survive a round trip`() async throws {
        let echo = try Echo()
        let value = BusStruct(1 as UInt8, BusStruct("a", [2 as Int64]), Variant.string("c"))
        let reply = try await echo.send(value).elements
        #expect(reply.0 == 1)
        #expect(reply.1.elements.0 == "a")
        #expect(reply.1.elements.1 == [2])
        #expect(reply.2 == .string("c"))
        let list = try await echo.send([BusStruct(1 as UInt32, true), BusStruct(2, false)])
        #expect(list.map(\.elements.0) == [1, 2])
        #expect(list.map(\.elements.1) == [true, false])
    }
}

/// A server with one method per type, which returns its argument.
@MainActor
private final class Echo {
    private let server: TestServer
    private var count = 0

    init() throws { server = try TestServer() }

    func send<Value: BusType>(_ value: Value) async throws -> Value {
        let interface = BusInterface<Echo>(
            "org.imagefeed.Echo",
            [.method("Echo", in: ["value"], out: ["value"]) { (_, value: Value) in value }])
        count += 1
        let object = ExportedObject(.test.appending("echo\(count)"))
        object.add(interface, on: self)
        server.tree.export(object)
        defer { server.tree.remove(object) }
        return try await BusProxy(server.client, server.connection.uniqueName, object.path)
            .call("org.imagefeed.Echo", "Echo", value)
    }

    func check<Value: BusType & Equatable>(_ values: [Value]) async throws {
        for value in values { #expect(try await send(value) == value) }
        #expect(try await send(values) == values)
    }
}
