import DBus
import Glibc
import TestSupport
import Testing

@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct FileDescriptorTests {
    private let server: TestServer
    private let echo: BusProxy

    init() throws {
        server = try TestServer()
        let object = ExportedObject(.test.appending("pass"))
        object.add(Pass.interface, on: Pass())
        server.tree.export(object)
        echo = BusProxy(server.client, server.connection.uniqueName, object.path)
    }

    @Test func `a descriptor is passed over the bus`() async throws {
        let reply: FileDescriptor = try await echo.call(
            "org.imagefeed.Pass", "Plain", try descriptor(holding: "hello"))
        #expect(contents(of: reply) == "hello")
        #expect(fcntl(reply.rawValue, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test func `descriptors in options are passed together with other values`() async throws {
        let options: [String: Variant] = [
            "first": .fileDescriptor(try descriptor(holding: "one")),
            "text": .string("x"),
            "nested": .structure([
                .byte(1), .bool(true), .int16(-1), .double(2), .int64(3), .objectPath("/a"),
                .signature("as"), .array([.string("s")], of: "s"),
                .dictionary([.init(key: .string("k"), value: .byte(1))], key: "s", value: "y"),
                .variant(.fileDescriptor(try descriptor(holding: "two"))),
            ]),
        ]
        let reply: [String: Variant] = try await echo.call("org.imagefeed.Pass", "Options", options)
        guard case .fileDescriptor(let first)? = reply["first"],
            case .structure(let fields)? = reply["nested"],
            case .variant(.fileDescriptor(let second))? = fields.last,
            case .structure(let sent)? = options["nested"]
        else {
            Issue.record("\(reply)")
            return
        }
        #expect(contents(of: first) == "one")
        #expect(contents(of: second) == "two")
        #expect(reply["text"] == .string("x"))
        #expect(Array(fields.dropLast()) == Array(sent.dropLast()))
    }

    @Test func `no descriptor is left open`() async throws {
        let file = try descriptor(holding: "hello")
        for _ in 0..<10 {
            let _: FileDescriptor = try await echo.call("org.imagefeed.Pass", "Plain", file)
            // An argument of the wrong type.
            _ = await errorName { try await echo.perform("org.imagefeed.Pass", "Options", file) }
        }
        #expect(try references(to: file) == 1)
    }

    @Test func `a string with a NUL in a message with descriptors is rejected`() throws {
        #expect(throws: BusError.self) { try PreparedReply(try descriptor(holding: ""), "a\0b") }
    }
}

@MainActor
private final class Pass {
    static let interface = BusInterface<Pass>(
        "org.imagefeed.Pass",
        [
            .method("Plain", in: ["file"], out: ["file"]) { (_, file: FileDescriptor) in file },
            .method("Options", in: ["options"], out: ["options"]) {
                (_, options: [String: Variant]) in options
            },
        ])
}

private func contents(of descriptor: FileDescriptor) -> String {
    var buffer = [UInt8](repeating: 0, count: 100)
    let count = read(descriptor.rawValue, &buffer, buffer.count)
    return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
}
