import Glibc
import TestSupport
import Testing

@testable import DBus

/// Tests that the server replies to any message of a client and continues to run.
@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct HostileClientTests {
    private let server: TestServer

    init() throws { server = try TestServer() }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `random calls get a reply`(seed: UInt64) async throws {
        server.object.isReleased.update { $0 = true }
        var random = SeededRandom(seed: seed)
        let paths: [ObjectPath] = [.test, "/", "/org", "/org/imagefeed", "/nowhere"]
        let interfaces: [InterfaceName] = [
            .test, "a.b", "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.Peer",
            "org.freedesktop.DBus.Introspectable", "org.freedesktop.DBus.ObjectManager",
        ]
        let members: [MemberName] = [
            "Add", "Take", "Echo", "Wait", "Page", "Set", "Get", "GetAll", "Introspect", "Ping",
            "GetManagedObjects", "GetMachineId", "Nothing",
        ]
        for _ in 0..<200 {
            var header = MessageHeader.methodCall(
                server.connection.uniqueName, paths.randomElement(using: &random) ?? .root,
                interfaces.randomElement(using: &random) ?? .test,
                members.randomElement(using: &random) ?? "Add")
            if Bool.random(using: &random) { header.interface = nil }
            let values = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                random.variant(depth: 4)
            }
            let message = try call(header, values)
            do {
                _ = try await server.client.call(message)
            } catch BusError.reply(let reply) {
                #expect(reply.name != .noReply)
            }
        }
        #expect(try await server.addOnes() == 2)
    }

    @Test func `a variant of every depth that libdbus accepts is decoded`() async throws {
        for depth in 1..<80 {
            let deep = (0..<depth).reduce(Variant.byte(0)) { value, _ in .variant(value) }
            let nested = (0..<depth).reduce(Variant.byte(0)) { value, _ in
                .array([value], of: value.valueSignature)
            }
            for value in [deep, nested] {
                // Values that libdbus rejects are not sent.
                guard let message = try? call(server.header("Take"), ["a": value]) else { continue }
                let reply: [String: Variant] = try await server.client.call(message).read()
                #expect(reply == ["a": value])
            }
        }
    }

    @Test func `types nested to the limit of libdbus are decoded`() async throws {
        let type = String(repeating: "a{s(", count: 17) + "i" + String(repeating: ")}", count: 17)
        let deep = Variant.dictionary(
            [], key: "s", value: Signature(unchecked: String(type.dropFirst(3).dropLast())))
        let reply: [String: Variant] = try await server.proxy.call(.test, "Take", ["a": deep])
        #expect(reply == ["a": deep])
        try await server.proxy.set(.test, "Label", to: "x")
    }

    @Test func `unexpected descriptors are closed`() async throws {
        let file = FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))
        let files = Array(repeating: Variant.fileDescriptor(file), count: 16)
        for _ in 0..<200 {
            var header = server.header("Add")
            header.expectsReply = false
            server.client.send(try BusMessage(header, Variant.array(files, of: "h")))
        }
        #expect(try await server.addOnes() == 2)
    }

    @Test func `held calls with descriptors are limited`() async throws {
        let server = try TestServer(started: false)
        let file = FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))
        let calls = (0..<9).map { _ in
            Task.immediate { () throws -> [String: Variant] in
                try await server.proxy.call(.test, "Take", ["file": Variant.fileDescriptor(file)])
            }
        }
        let refused = await errorName { _ = try await calls[8].value }
        #expect(refused == .limitsExceeded)
        let sum = Task.immediate { try await server.addOnes() }
        server.tree.start()
        for call in calls.dropLast() { #expect(try await call.value.count == 1) }
        #expect(try await sum.value == 2)
    }

    @Test func `unexpected signals and replies are ignored`() async throws {
        let name = server.connection.uniqueName
        for serial in 1..<200 as Range<UInt32> {
            let reply = MessageHeader(kind: .methodReturn, destination: name, replySerial: serial)
            server.client.send(try BusMessage(reply, "forged"))
            server.client.send(try BusMessage(.signal("/", "a.b", "C", to: name), serial))
        }
        #expect(try await server.connection.owner(of: .bus) == .bus)
        #expect(try await server.addOnes() == 2)
    }

    private func call(_ header: MessageHeader, _ options: [String: Variant]) throws -> BusMessage {
        try BusMessage(header, options)
    }

    /// Returns a call with `values` as its arguments, not as variants.
    private func call(_ header: MessageHeader, _ values: [Variant]) throws -> BusMessage {
        let types = Signature(unchecked: values.map(\.valueSignature.text).joined())
        var builder = MessageBuilder(header, types)
        for value in values { try value.encodeValue(into: &builder.encoder) }
        return BusMessage(owning: try builder.finish())
    }
}

extension SeededRandom {
    fileprivate mutating func variant(depth: Int) -> Variant {
        let number = next()
        switch Int.random(in: 0..<(depth > 0 ? 17 : 12), using: &self) {
        case 0: return .byte(UInt8(truncatingIfNeeded: number))
        case 1: return .bool(number & 1 == 0)
        case 2: return .int16(Int16(truncatingIfNeeded: number))
        case 3: return .uint16(UInt16(truncatingIfNeeded: number))
        case 4: return .int32(Int32(truncatingIfNeeded: number))
        case 5: return .uint32(UInt32(truncatingIfNeeded: number))
        case 6: return .int64(Int64(bitPattern: number))
        case 7: return .uint64(number)
        case 8: return .double(Double(bitPattern: number))
        case 9: return .objectPath("/a/b")
        case 10: return .signature("a{sv}")
        case 11, 12:
            return .string(["org.imagefeed.Test", "Label", "", "\u{10FFFF}"][Int(number % 4)])
        case 13: return .variant(variant(depth: depth - 1))
        case 14: return .structure((0...Int(number % 3)).map { _ in variant(depth: depth - 1) })
        case 15:
            let element = variant(depth: depth - 1)
            return .array(
                Array(repeating: element, count: Int(number % 4)), of: element.valueSignature)
        default:
            let value = variant(depth: depth - 1)
            let entries = (0..<Int(number % 4)).map {
                Variant.Entry(key: .string("\($0)"), value: value)
            }
            return .dictionary(entries, key: "s", value: value.valueSignature)
        }
    }
}
