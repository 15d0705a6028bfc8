import DBus
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// An object with a member of every kind.
@MainActor
final class TestObject {
    var number: UInt32 = 1
    var label = "one"
    /// Set to complete the calls of `Wait`.
    let isReleased = Observed(false)
    /// The number of calls of `Wait` that have begun.
    let waiting = Observed(0)
    /// The arguments of the calls of `Record`.
    let recordedNumbers = Observed<[UInt32]>()
    var pages = 0
    /// The callers of `Page`.
    var pageCallers: [BusName?] = []
    var preparedPage: PreparedReply?
    weak var exported: ExportedObject?
    /// The subscriptions that last as long as the object.
    var subscriptions: [SignalSubscription] = []

    static let interface = BusInterface<TestObject>(
        .test,
        [
            .method("Add", in: ["a", "b"], out: ["sum"]) {
                (_, a: UInt32, b: UInt32) -> UInt32 in a &+ b
            },
            .method("Record", in: ["number"]) { (object, number: UInt32) in
                object.recordedNumbers.append(number)
            },
            .method("Length", in: ["text"], out: ["bytes"]) { (_, text: String) -> UInt32 in
                UInt32(text.utf8.count)
            },
            .method("Echo", in: ["text"], out: ["text"]) { (_, text: String) in text },
            .method("Fill", in: ["bytes"], out: ["text"]) { (_, count: UInt32) -> String in
                String(repeating: "x", count: Int(count))
            },
            .method("Take", in: ["options"], out: ["options"]) { (_, options: [String: Variant]) in
                options
            },
            .method("Fail", in: ["name", "message"]) { (_, name: String, message: String) in
                throw ErrorReply(try ErrorName(name), message)
            },
            .method("FailOtherwise") { _ in throw TestError() },
            .method("Huge", out: ["text"]) { _ in String(repeating: "x", count: 130 << 20) },
            .method("Broken", out: ["text"]) { _ in "a\0b" },
            .asyncMethod("Wait", out: ["number"]) { (object) -> UInt32 in
                object.waiting.update { $0 += 1 }
                try await object.isReleased.wait { $0 ? true : nil }
                return object.number
            },
            .asyncMethod("WaitWith", in: ["text"], out: ["bytes"]) {
                (object, text: String) -> UInt32 in
                object.waiting.update { $0 += 1 }
                try await object.isReleased.wait { $0 ? true : nil }
                return UInt32(text.utf8.count)
            },
            .preparedMethod("Page", in: ["number"], out: ["page"], returning: (String).self) {
                (object: TestObject, call: BusMessage, number: UInt32) -> Invocation in
                object.pageCallers.append(call.sender)
                if let reply = object.preparedPage { return .finished(reply) }
                return .running {
                    object.pages += 1
                    let reply = try PreparedReply("page \(number)")
                    object.preparedPage = reply
                    return reply
                }
            },
            .property("Number") { $0.number },
            .property(
                "Label", { $0.label },
                set: { object, label in
                    guard !label.isEmpty else { throw ErrorReply(.invalidArgs, "empty") }
                    object.label = label
                    object.exported?.announceChanges()
                }),
            .property("Id", isConstant: true) { _ in "test" },
            .signal("Changed", ["number", "label"], UInt32.self, String.self),
        ])
}

struct TestError: Error {}

extension InterfaceName {
    static let test: InterfaceName = "org.imagefeed.Test"
}

extension ObjectPath {
    static let test: ObjectPath = "/org/imagefeed/test"
}

/// A server and a client on the bus of the running test.
@MainActor
struct TestServer {
    let connection: BusConnection
    let tree: ObjectTree
    let object = TestObject()
    let exported = ExportedObject(.test)
    let client: BusConnection
    /// The client's proxy of ``object``.
    let proxy: BusProxy

    init(started: Bool = true) throws {
        let bus = try PrivateBus.current
        connection = try bus.connect()
        tree = ObjectTree(connection, root: "/org/imagefeed") { error in
            ErrorReply("org.imagefeed.Error.Other", "\(type(of: error))")
        }
        exported.add(TestObject.interface, on: object)
        object.exported = exported
        tree.export(ExportedObject("/org/imagefeed"))
        tree.export(exported)
        if started { tree.start() }
        client = try bus.connect()
        proxy = BusProxy(client, connection.uniqueName, .test)
    }

    var root: BusProxy { BusProxy(client, connection.uniqueName, "/org/imagefeed") }

    /// Returns the header of a call of ``object``.
    func call(_ member: MemberName) -> MessageHeader {
        .methodCall(connection.uniqueName, .test, .test, member)
    }

    /// Starts a call of `Wait`.
    func startWaiting() -> Task<UInt32, any Error> {
        Task.immediate { try await proxy.call(.test, "Wait", timeout: nil) }
    }

    /// Returns the sum of 1 and 1, which the server adds.
    func addOnes(timeout: Duration? = BusConnection.defaultTimeout) async throws -> UInt32 {
        try await proxy.call(.test, "Add", 1 as UInt32, 1 as UInt32, timeout: timeout)
    }
}

/// Returns the read end of a pipe that contains a text.
func descriptor(holding text: String) throws -> FileDescriptor {
    try #require(Array(text.utf8).withUnsafeBytes { FileDescriptor.pipe(holding: $0) })
}

/// Returns the number of descriptors of this process that refer to the same open file.
func references(to descriptor: FileDescriptor) throws -> Int {
    var expected = stat()
    try #require(fstat(descriptor.rawValue, &expected) == 0)
    return try openDescriptors().count {
        var found = stat()
        return fstat($0, &found) == 0 && found.st_ino == expected.st_ino
            && found.st_dev == expected.st_dev
    }
}

/// The open descriptors of this process.
func openDescriptors() throws -> [Int32] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
}

/// Returns the error name of the error reply that `body` throws; nil, with an issue, if there is none.
@MainActor
func errorName(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async -> ErrorName? {
    do {
        try await body()
        Issue.record("no error", sourceLocation: sourceLocation)
    } catch BusError.reply(let reply) {
        return reply.name
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
    return nil
}
