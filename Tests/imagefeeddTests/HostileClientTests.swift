import Contract
import DBus
import Foundation
import Glibc
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of calls that use much memory, many descriptors or much time. Other clients must still be served.
@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct HostileClientTests {
    // MARK: Images

    @Test(arguments: ["full", "regular"])
    func `an opened local image cannot be modified`(size: String) async throws {
        let daemon = try await RunningDaemon()
        try Pictures.add("a.png")
        let client = try TestClient()
        let ada = try await client.logIn("ada")
        try await client.waitUntilReady(ada)
        let id = try #require(try await ada.page("", cursor: "", count: 1).photos[0]["id"]?.string)
        try await expectReadOnly(ada, id, size)
        #expect(
            try Destination.read(
                Destination.open(
                    PrivateBus.current.directory.appending("\(Pictures.home)/a.png"), O_RDONLY))
                == Array(Pictures.png))
        // Each caller has its own file position.
        let first = try await ada.openImage(id, size: size)
        let second = try await ada.openImage(id, size: size)
        let bytes = try Destination.read(first)
        #expect(!bytes.isEmpty)
        #expect(try Destination.read(second) == bytes)
        try await daemon.stop()
    }

    @Test(.privateKeyring) func `an opened image of the cache cannot be modified`() async throws {
        let fixture = try await UnsplashFixture()
        let account = try await fixture.logIn("ada")
        let photo = try #require(fixture.unsplash.feed.first).id
        try await expectReadOnly(account, photo, "regular")
        try await fixture.daemon.stop()
    }

    /// Expects that nothing can be written through the descriptor of an image or through a descriptor that is derived
    /// from it, and that the file does not change.
    private func expectReadOnly(
        _ account: AccountClient, _ photo: String, _ size: String
    ) async throws {
        let path = try await account.imagePath(photo, size: size)
        let content = try Destination.read(Destination.open(path, O_RDONLY))
        let image = try await account.openImage(photo, size: size)
        #expect(fcntl(image.rawValue, F_GETFL) & O_ACCMODE == O_RDONLY)
        #expect(write(image.rawValue, "x", 1) == -1)
        fchmod(image.rawValue, 0o666)
        for flags in [O_WRONLY, O_RDWR, O_RDWR | O_TRUNC] {
            let again = open("/proc/self/fd/\(image.rawValue)", flags | O_CLOEXEC)
            guard again >= 0 else { continue }
            #expect(write(again, "x", 1) == -1)
            #expect(ftruncate(again, 0) == -1)
            close(again)
        }
        #expect(try Destination.read(image) == content)
        #expect(try Destination.read(Destination.open(path, O_RDONLY)) == content)
    }

    // MARK: Descriptors and secrets

    @Test func `1200 calls with open pipes do not end the daemon`() async throws {
        try PrivateBus.current.directory.write(
            "[Provider unsplash]\nClientId=x\n", to: "home/.config/imagefeed/imagefeed.conf")
        let daemon = try await RunningDaemon()
        let (hostile, neighbour) = (try TestClient(), try TestClient())
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let held = Variant.fileDescriptor(FileDescriptor(owning: ends[0]))
        defer { close(ends[1]) }
        let start = ContinuousClock.now
        let calls = (0..<1200).map { _ in
            Task.immediate {
                try await hostile.service.provider(ServiceName.providers.appending("unsplash"))
                    .configure([.clientSecret: held])
            }
        }
        // The reply follows the arrival of all calls at the daemon.
        _ = try await hostile.service.manager.properties()
        let time = ContinuousClock.now - start
        // The calls beyond the limit are rejected immediately, before any of the others ends. Each of the others ends
        // after ten seconds. If the calls took longer to arrive, some later ones were not beyond the limit.
        var waiting = 0
        for call in calls.dropFirst(8) {
            guard let reply = await errorReply({ try await call.value }) else { continue }
            if reply.name == .limitsExceeded { continue }
            #expect(reply.name == .invalidArgs, "\(reply.message)")
            waiting += 1
        }
        #expect(waiting <= 8 * Int(time / .seconds(10)))
        #expect(try daemon.descriptors().count < 100)
        let password = try #require(FileDescriptor.pipe(holding: Array("correct".utf8), 7))
        let login = try await neighbour.service.manager.login(
            "local",
            [
                .username: .string("bob"), .register: .bool(true),
                .password: .fileDescriptor(password),
            ])
        _ = try await neighbour.service.login(login).wait()
        for call in calls.prefix(8) { call.cancel() }
        try await daemon.stop()
    }

    @Test func `a password that is not sent does not block other logins`() async throws {
        let daemon = try await RunningDaemon()
        let (hostile, neighbour) = (try TestClient(), try TestClient())
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let held = Variant.fileDescriptor(FileDescriptor(owning: ends[0]))
        defer { close(ends[1]) }
        var options: [LoginOption: Variant] = [.username: .string("eve"), .register: .bool(true)]
        options[.password] = held
        var logins: [ObjectPath] = []
        for _ in 0..<8 {
            logins.append(try await hostile.service.manager.login("local", options))
        }
        await expectError(.limitsExceeded) {
            _ = try await hostile.service.manager.login("local", options)
        }
        let password = try #require(FileDescriptor.pipe(holding: Array("correct".utf8), 7))
        options = [
            .username: .string("bob"), .register: .bool(true),
            .password: .fileDescriptor(password),
        ]
        let login = try await neighbour.service.manager.login("local", options)
        let account = try await neighbour.service.login(login).wait()
        #expect(account == ServiceName.accounts.appending("local_bob"))
        // Each login waits ten seconds for its password, so the newest one ends last.
        let newest = hostile.service.login(try #require(logins.last))
        #expect(try await newest.properties()["State"] == .string("waiting"))
        for path in logins { try await hostile.service.login(path).cancel() }
        try await daemon.stop()
    }

    @Test func `the soft limit of descriptors is raised`() async throws {
        let daemon = try await RunningDaemon(
            launcher: ["/bin/sh", "-c", "ulimit -Sn 300; exec \"$0\" \"$@\""])
        let limits = try String(
            decoding: Data(contentsOf: URL(filePath: "/proc/\(daemon.process.id)/limits")),
            as: UTF8.self)
        let line = try #require(
            limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
        let numbers = line.split(separator: " ").compactMap { Int($0) }
        try #require(numbers.count == 2)
        #expect(numbers[0] == min(4096, numbers[1]))
        try await daemon.stop()
    }

    @Test func `unexpected descriptors are closed`() async throws {
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let file = Variant.fileDescriptor(try Destination.file("unwanted"))
        let options: [String: Variant] = [
            "username": .string(""), "other": file, "list": .array([file, file], of: "h"),
        ]
        let root = client.proxy(ServiceName.root)
        for _ in 0..<100 {
            await expectError(.invalidArgs) {
                try await root.perform(.manager, "Login", "local", options)
            }
        }
        // The last message is released after its reply, and before the next message is handled.
        _ = try await client.service.manager.properties()
        #expect(try daemon.descriptors().allSatisfy { !$0.hasSuffix("/unwanted") })
        try await daemon.stop()
    }

    // MARK: Memory

    @Test func `an unknown option is not decoded`() async throws {
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let bytes = [UInt8](repeating: 0, count: 8 << 20)
        let options = OrderedEntries([
            (key: "username", value: AnyVariant("")), (key: "other", value: AnyVariant(bytes)),
        ])
        let before = try peakMebibytes(of: daemon)
        let root = client.proxy(ServiceName.root)
        await expectError(.invalidArgs) {
            let _: ObjectPath = try await root.call(.manager, "Login", "local", options)
        }
        await expectError(.propertyReadOnly) {
            try await root.perform(
                "org.freedesktop.DBus.Properties", "Set", InterfaceName.manager.text, "Online",
                AnyVariant(bytes))
        }
        // Decoding took 330 MiB.
        #expect(try peakMebibytes(of: daemon) - before < 80)
        try await daemon.stop()
    }

    private func peakMebibytes(of daemon: RunningDaemon) throws -> Int {
        let status = try String(
            decoding: Data(contentsOf: URL(filePath: "/proc/\(daemon.process.id)/status")),
            as: UTF8.self)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(
            line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
            >> 10
    }

    @Test func `a long argument is rejected`() async throws {
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let ada = try await client.logIn("ada")
        let long = String(repeating: "x", count: 65537)
        await expectError(.invalidArgs) { _ = try await ada.photo(long) }
        await expectError(.invalidArgs) { try await ada.setLabel(long) }
        await expectError(.invalidArgs) {
            try await client.service.manager.setDefaultAccount(try ObjectPath("/" + long))
        }
        await expectError(ServiceError.notFound.name) {
            _ = try await ada.photo(String(long.dropLast()))
        }
        try await daemon.stop()
    }

    @Test func `many failed logins leave few objects`() async throws {
        let daemon = try await RunningDaemon()
        let (hostile, neighbour) = (try TestClient(), try TestClient())
        var started = 0
        let start = ContinuousClock.now
        for _ in 0..<1000 {
            do {
                let login = try await hostile.service.manager.login(
                    "local", [.username: .string("nobody")])
                started += 1
                let result = hostile.service.login(login)
                await expectError(ServiceError.noSuchUser.name) { _ = try await result.wait() }
                await expectError(ServiceError.noSuchUser.name) { _ = try await result.wait() }
            } catch BusError.reply(let reply) {
                #expect(reply.name == .limitsExceeded)
            }
        }
        // A burst of calls, and then two per second.
        let seconds = Int((ContinuousClock.now - start) / .seconds(1)) + 1
        #expect(128...(129 + 2 * seconds) ~= started)
        try await neighbour.logIn("bob")
        let logins = try await neighbour.service.objects().values.filter {
            $0[InterfaceName.login.text] != nil
        }
        #expect(logins.count == 33)
        try await daemon.stop()
    }
}
