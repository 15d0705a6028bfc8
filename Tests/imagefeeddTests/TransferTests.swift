import Contract
import DBus
import Glibc
import TestSupport
import Testing

/// Tests of downloads of local photos into files, pipes and sockets of a client.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct TransferTests {
    /// A daemon with one photo of a million bytes.
    private struct Fixture {
        let daemon: RunningDaemon
        let client: TestClient
        let account: AccountClient
        let photo: String
        let bytes: [UInt8]

        @MainActor init() async throws {
            try Pictures.add(["a"])
            let path = try PrivateBus.current.directory.appending("\(Pictures.home)/a.png")
            let file = try Destination.open(path, O_WRONLY | O_APPEND)
            var more = [UInt8](repeating: 0, count: 1_000_000 - Pictures.png.count)
            for index in more.indices { more[index] = UInt8(truncatingIfNeeded: index / 4096) }
            #expect(write(file.rawValue, more, more.count) == more.count)
            bytes = Array(Pictures.png) + more
            (daemon, client, account) = try await startWithUser()
            photo = try await account.firstID()
        }

        /// Starts a download into a file.
        @MainActor func download(to file: FileDescriptor) async throws -> TransferClient {
            client.service.transfer(try await account.download(photo, to: file))
        }

        /// Starts a download into a pipe that is not read yet.
        @MainActor func startSlowly(
            flags: Int32 = 0, isSocket: Bool = false, by caller: TestClient? = nil
        ) async throws -> (transfer: TransferClient, pipe: SlowPipe) {
            let pipe = try SlowPipe(isSocket: isSocket)
            let account = (caller ?? client).service.account(account.path)
            let path = try await pipe.handOver { writer in
                #expect(fcntl(writer.rawValue, F_SETFL, flags) == 0)
                return try await account.download(photo, to: writer)
            }
            return (client.service.transfer(path), pipe)
        }
    }

    private let fixture: Fixture

    init() async throws { fixture = try await Fixture() }

    @Test func `a photo is written at the position of the caller's file`() async throws {
        let file = try Destination.file()
        #expect(write(file.rawValue, "before", 6) == 6)
        let added = try await Signals(
            fixture.client.connection, ServiceName.root, "org.freedesktop.DBus.ObjectManager",
            "InterfacesAdded")
        let path = try await fixture.account.download(fixture.photo, to: file)
        #expect(ServiceName.transfers.appending("1") == path)
        let transfer = fixture.client.service.transfer(path)
        try await transfer.wait()
        try await transfer.wait()
        #expect(try Destination.content() == Array("before".utf8) + fixture.bytes)
        let properties = try await transfer.properties()
        #expect(properties["State"] == .string("done"))
        #expect(properties["Received"] == .uint64(1_000_000))
        #expect(properties["Total"] == .uint64(1_000_000))
        #expect(properties["Error"] == .structure([.string(""), .string("")]))
        // Cancelling a finished transfer has no effect.
        try await transfer.cancel()
        #expect(try await transfer.properties()["State"] == .string("done"))
        let shown: (ObjectPath, [String: [String: Variant]]) =
            try await added.messages.elements(1)[0].read()
        #expect(shown.0 == path)
        #expect(shown.1[InterfaceName.transfer.text]?["State"] == .string("running"))
        #expect(try await fixture.client.service.objects()[path] != nil)
    }

    @Test func `a destination that cannot be written is rejected immediately`() async throws {
        _ = try Destination.file()
        for file in [
            try Destination.file("photo", O_RDONLY), try Destination.file("photo", O_PATH),
            try Destination.open("/", O_RDONLY),
        ] {
            await expectError(.invalidArgs) { _ = try await fixture.download(to: file) }
        }
        let file = try Destination.file()
        await expectError(.notFound) { _ = try await fixture.account.download("nothing", to: file) }
        let paths = try await fixture.client.service.objects().keys
        #expect(paths.allSatisfy { !$0.text.contains("transfers") })
        #expect(try Destination.content().isEmpty)
    }

    @Test func `a full disk is reported`() async throws {
        let full = try Destination.open("/dev/full", O_WRONLY)
        let transfer = try await fixture.download(to: full)
        for _ in 0..<2 {
            await expectError(.storageFull) { try await transfer.wait() }
        }
        let properties = try await transfer.properties()
        #expect(properties["State"] == .string("failed"))
        let error = properties["Error"]?.fields.first
        #expect(error == .string(ServiceError.storageFull.name.text))
    }

    @Test(arguments: [(0, false), (O_NONBLOCK, false), (0, true)])
    func `a slow reader gets the complete photo`(flags: Int32, isSocket: Bool) async throws {
        let (transfer, pipe) = try await fixture.startSlowly(flags: flags, isSocket: isSocket)
        // The daemon handles other calls meanwhile.
        #expect(try await fixture.client.titles(fixture.account) == ["a"])
        #expect(try await transfer.properties()["State"] == .string("running"))
        #expect(try await pipe.read() == fixture.bytes)
        try await transfer.wait()
        #expect(try await transfer.properties()["Received"] == .uint64(1_000_000))
    }

    @Test func `a transfer fails when its reader closes the pipe`() async throws {
        for isSocket in [false, true] {
            let (transfer, pipe) = try await fixture.startSlowly(isSocket: isSocket)
            pipe.stopReading()
            await expectError(.ioError) { try await transfer.wait() }
            #expect(try await transfer.properties()["State"] == .string("failed"))
        }
    }

    @Test func `a transfer continues when its caller disconnects`() async throws {
        var caller: TestClient? = try TestClient()
        let name = try #require(caller?.connection.uniqueName)
        let (transfer, pipe) = try await fixture.startSlowly(by: caller)
        try await fixture.client.connection.waitForOwner(of: name, isGone: true) { caller = nil }
        #expect(try await pipe.read() == fixture.bytes)
        try await transfer.wait()
    }

    @Test func `cancelling a transfer closes the pipe`() async throws {
        let (transfer, pipe) = try await fixture.startSlowly()
        async let waiting: ErrorReply? = errorReply { try await transfer.wait() }
        try await transfer.cancel()
        #expect(await waiting?.name == ServiceError.cancelled.name)
        #expect(try await transfer.properties()["State"] == .string("cancelled"))
        #expect(try await pipe.read().count <= 65536)
        await expectError(.cancelled) { try await transfer.wait() }
        try await transfer.cancel()
    }

    @Test func `eight transfers can run at a time and end with the daemon`() async throws {
        var running: [(transfer: TransferClient, pipe: SlowPipe)] = []
        for _ in 0..<8 { running.append(try await fixture.startSlowly()) }
        let file = try Destination.file()
        await expectError(.limitsExceeded) { _ = try await fixture.download(to: file) }
        try await running[3].transfer.cancel()
        try await fixture.download(to: file).wait()
        #expect(try Destination.content() == fixture.bytes)
        // The end of the daemon does not wait for the readers.
        try await fixture.daemon.stop()
        withExtendedLifetime(running) {}
    }
}
