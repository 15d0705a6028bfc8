import Contract
import DBus
import Foundation
import Glibc
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of calls that use much memory, many descriptors or much time. Other clients must still be served.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct HostileClientTests {
    // MARK: Images

    @Test(arguments: ["full", "regular"])
    func `an opened local image cannot be modified`(size: String) async throws {
        let (_, _, ada) = try await startWithUser(["a"])
        let id = try await ada.firstID()
        try await expectReadOnly(ada, id, size)
        let picture = try PrivateBus.current.directory.appending("\(Pictures.home)/a.png")
        #expect(try Destination.read(Destination.open(picture, O_RDONLY)) == Array(Pictures.png))
        // Each caller has its own file position.
        let first = try await ada.openImage(id, size: size)
        let second = try await ada.openImage(id, size: size)
        let bytes = try Destination.read(first)
        #expect(size == "full" ? bytes == Array(Pictures.png) : !bytes.isEmpty)
        #expect(try Destination.read(second) == bytes)
        let thumbnail = try await ada.imagePath(id, size: "thumb")
        #expect(thumbnail.contains("/.cache/thumbnails/large/"))
        #expect(try Data(contentsOf: URL(filePath: thumbnail)).starts(with: Pictures.png[..<8]))
        try Pictures.remove("a.png")
        await expectError(.notFound) { _ = try await ada.openImage(id, size: "full") }
    }

    @Test(.privateKeyring) func `an opened image of the cache cannot be modified`() async throws {
        let (fixture, account) = try await logIn(to: UnsplashFixture())
        let photo = try #require(fixture.unsplash.feed.first).id
        try await expectReadOnly(account, photo, "regular")
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

    @Test func `a caller whose connection does not accept descriptors gets an error`() async throws
    {
        let (_, _, ada) = try await startWithUser(["a"])
        let received = try FloodingClient(PrivateBus.current.address)
            .openImage(try await ada.firstID(), ServiceName.bus, ada.path, .feed)
        #expect(received.contains("org.freedesktop.DBus.Error.NotSupported"))
        #expect(received.contains("does not accept file descriptors"))
    }

    // MARK: Descriptors and secrets

    @Test func `1200 calls with open pipes do not end the daemon`() async throws {
        try RunningDaemon.configure("[Provider unsplash]\nClientId=x\n")
        let daemon = try await RunningDaemon()
        let (hostile, neighbour) = (try TestClient(), try TestClient())
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let held = Variant.fileDescriptor(FileDescriptor(owning: ends[0]))
        defer { close(ends[1]) }
        let start = ContinuousClock.now
        let calls = (0..<1200).map { _ in
            Task.immediate {
                try await hostile.provider("unsplash").configure([.clientSecret: held])
            }
        }
        // The reply follows the arrival of all calls at the daemon. It may be a refusal, because too many are unfinished.
        _ = try? await hostile.service.properties()
        let time = ContinuousClock.now - start
        // The calls beyond the limit are rejected immediately, before any of the others ends. Each of the others ends
        // after ten seconds. If the calls took longer to arrive, some later ones were not beyond the limit.
        var waiting = 0
        for call in calls.dropFirst(16) {
            guard let reply = await errorReply({ try await call.value }) else { continue }
            if reply.name == .limitsExceeded { continue }
            #expect(reply.name == .invalidArgs, "\(reply.message)")
            waiting += 1
        }
        #expect(waiting <= 16 * Int(time / .seconds(10)))
        try await poll { try daemon.descriptors().count < 100 }
        _ = try await neighbour.logIn(
            to: "local",
            [.username: .string("bob"), .register: .bool(true), .password: .secret("correct")])
        for call in calls.prefix(16) { call.cancel() }
    }

    @Test func `the soft limit of descriptors is raised`() async throws {
        let daemon = try await RunningDaemon(
            launcher: ["/bin/sh", "-c", "ulimit -Sn 300; exec \"$0\" \"$@\""])
        let numbers = try daemon.status("Max open files", in: "limits").split(separator: " ")
            .compactMap { Int($0) }
        try #require(numbers.count == 2)
        #expect(numbers[0] == min(4096, numbers[1]))
    }

    // MARK: Memory

    @Test func `a long argument is rejected`() async throws {
        let (_, client, ada) = try await startWithUser()
        let long = String(repeating: "x", count: 65537)
        await expectError(.invalidArgs) { _ = try await ada.photo(long) }
        await expectError(.invalidArgs) { try await ada.setLabel(long) }
        await expectError(.invalidArgs) {
            try await client.service.setDefaultAccount(try ObjectPath("/" + long))
        }
        await expectError(.notFound) { _ = try await ada.photo(String(long.dropLast())) }
    }
}
