import Contract
import DBus
import Glibc
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of downloads from Unsplash, which counts them.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(10))) @MainActor
struct UnsplashDownloadTests {
    private func start(
        _ photo: String, _ fixture: UnsplashFixture, _ account: AccountClient,
        _ name: String = "photo"
    ) async throws -> TransferClient {
        let path = try await account.download(photo, to: try Destination.file(name))
        return fixture.client.service.transfer(path)
    }

    @Test func `a photo is downloaded in the best quality and each download is counted`()
        async throws
    {
        let fixture = try await UnsplashFixture()
        let account = try await fixture.logIn("ada")
        let photo = try #require(fixture.unsplash.feed.first)
        let count = RequestPattern("/photos/\(photo.id)/download")
        let transfer = try await start(photo.id, fixture, account)
        try await transfer.wait()
        try await fixture.unsplash.waitForReplies(count)
        let image = try await account.openImage(photo.id, size: "full")
        let bytes = try Destination.read(image)
        #expect(try Destination.content() == bytes)
        let properties = try await transfer.properties()
        #expect(properties["State"] == .string("done"))
        #expect(properties["Received"] == .uint64(UInt64(bytes.count)))
        #expect(properties["Total"] == .uint64(UInt64(bytes.count)))
        // Viewing a photo is not counted as a download.
        #expect(fixture.unsplash.downloads(of: photo.id) == 1)
        try await start(photo.id, fixture, account, "again").wait()
        let counts = try await fixture.unsplash.waitForReplies(count, count: 2)
        #expect(counts.allSatisfy { $0.username == "ada" && $0.query["ixid"]?.isEmpty == false })
        #expect(fixture.unsplash.downloads(of: photo.id) == 2)
        #expect(try Destination.content("again") == bytes)
        let images = fixture.unsplash.requests(RequestPattern(photo.imagePath))
        #expect(images.count == 1)
        #expect(images.first?.query["ixid"]?.isEmpty == false)
        #expect(images.first?["Authorization"] == nil)
        try await fixture.daemon.stop()
    }

    @Test(arguments: [
        (Fault.htmlPage, ServiceError.serviceFailed), (.htmlStatus(404), .notFound),
        (.htmlStatus(503), .serviceFailed), (.truncated, .serviceFailed),
        (.reset, .serviceFailed),
    ])
    func `an invalid response is not written`(fault: Fault, error: ServiceError) async throws {
        let fixture = try await UnsplashFixture()
        let account = try await fixture.logIn("ada")
        let photo = try #require(fixture.unsplash.feed.first)
        let images = RequestPattern(photo.imagePath)
        fixture.unsplash.fail(images, fault)
        let transfer = try await start(photo.id, fixture, account)
        await expectError(error.name) { try await transfer.wait() }
        #expect(try await transfer.properties()["State"] == .string("failed"))
        #expect(try Destination.content().isEmpty)
        fixture.unsplash.recover(images)
        try await start(photo.id, fixture, account).wait()
        try await fixture.unsplash.waitForReplies(RequestPattern("/photos/\(photo.id)/download"))
        #expect(try Destination.content().count > 0)
        try await fixture.daemon.stop()
        #expect(fixture.unsplash.downloads(of: photo.id) == 1)
    }

    @Test func `a download continues after a lost connection`() async throws {
        let fixture = try await UnsplashFixture()
        let account = try await fixture.logIn("ada")
        let photo = try #require(fixture.unsplash.feed.first)
        let images = RequestPattern(photo.imagePath)
        fixture.unsplash.fail(images, .dropped, times: 3)
        let transfer = try await start(photo.id, fixture, account)
        try await transfer.wait()
        let image = try await account.openImage(photo.id, size: "full")
        #expect(try Destination.content() == Destination.read(image))
        let requests = fixture.unsplash.requests(images)
        #expect(requests.count == 4)
        #expect(requests.dropFirst().allSatisfy { $0["Range"]?.hasPrefix("bytes=") == true })
        #expect(requests.last?.status == 206)
        let total = try await transfer.properties()["Total"]
        #expect(try await transfer.properties()["Received"] == total)
        try await fixture.daemon.stop()
    }

    @Test func `a download succeeds although counting it fails`() async throws {
        let fixture = try await UnsplashFixture()
        let account = try await fixture.logIn("ada")
        let photo = try #require(fixture.unsplash.feed.first)
        let count = RequestPattern("/photos/\(photo.id)/download")
        fixture.unsplash.fail(count, .htmlStatus(500))
        let transfer = try await start(photo.id, fixture, account)
        try await transfer.wait()
        try await fixture.unsplash.waitForRequests(count)
        #expect(try await transfer.properties()["State"] == .string("done"))
        try await fixture.daemon.stop()
    }

    @Test func `progress is announced at most ten times per second`() async throws {
        let fixture = try await UnsplashFixture()
        let account = try await fixture.logIn("ada")
        let photo = try #require(fixture.unsplash.feed.first)
        fixture.unsplash.fail(
            RequestPattern(photo.imagePath), .drip(bytes: 256, pause: .milliseconds(2)))
        let transfers = ServiceName.transfers.appending("1")
        let changes = try await Signals(
            fixture.client.connection, transfers, "org.freedesktop.DBus.Properties",
            "PropertiesChanged")
        let start = ContinuousClock.now
        let transfer = try await self.start(photo.id, fixture, account)
        try await transfer.wait()
        let total = try #require(try await transfer.properties()["Total"])
        let changed = try await changes.messages.wait { messages in
            let changed: [[String: Variant]] = messages.compactMap { message in
                let change: (String, [String: Variant], [String])? = try? message.read()
                return change?.1
            }
            return changed.last?["State"] == .string("done") ? changed : nil
        }
        let tenths = Int((ContinuousClock.now - start) / .milliseconds(100))
        // The start and the end are announced immediately.
        #expect(changed.count <= tenths + 2)
        #expect(changed.contains { $0["Received"].map { $0 != total } ?? false })
        try await fixture.daemon.stop()
    }

    @Test func `Received grows while bytes arrive slowly, and Total is known from the start`()
        async throws
    {
        let fixture = try await UnsplashFixture()
        let account = try await fixture.logIn("ada")
        let photo = try #require(fixture.unsplash.feed.first)
        fixture.unsplash.fail(
            RequestPattern(photo.imagePath), .drip(bytes: 4096, pause: .milliseconds(100)))
        let changes = try await Signals(
            fixture.client.connection, ServiceName.transfers.appending("1"),
            "org.freedesktop.DBus.Properties", "PropertiesChanged")
        try await self.start(photo.id, fixture, account).wait()
        let changed = try await changes.messages.wait { messages in
            let changed: [[String: Variant]] = messages.compactMap { message in
                let change: (String, [String: Variant], [String])? = try? message.read()
                return change?.1
            }
            return changed.last?["State"] == .string("done") ? changed : nil
        }
        let received = changed.compactMap { change -> UInt64? in
            guard case .uint64(let bytes)? = change["Received"] else { return nil }
            return bytes
        }
        let total = try #require(received.last)
        #expect(received == received.sorted())
        #expect(received.count { 1..<total ~= $0 } >= 4, "\(received)")
        #expect(changed.first?["Total"] == .uint64(total))
        try await fixture.daemon.stop()
    }

    @Test func `a download can be cancelled while it is fetched`() async throws {
        let fixture = try await UnsplashFixture()
        let account = try await fixture.logIn("ada")
        let photo = try #require(fixture.unsplash.feed.first)
        let images = RequestPattern(photo.imagePath)
        let gate = fixture.unsplash.hold(images)
        let transfer = try await start(photo.id, fixture, account)
        try await fixture.unsplash.waitForRequests(images)
        try await transfer.cancel()
        await expectError(ServiceError.cancelled.name) { try await transfer.wait() }
        gate.release()
        // The next download is not blocked.
        try await start(photo.id, fixture, account, "next").wait()
        #expect(try Destination.content().isEmpty)
        #expect(try Destination.content("next").count > 0)
        try await fixture.daemon.stop()
    }

    @Test func `the progress bar of the command line moves while bytes arrive slowly`()
        async throws
    {
        let fixture = try await UnsplashFixture()
        _ = try await fixture.logIn("ada")
        let photo = try #require(fixture.unsplash.feed.first)
        // A rate of 30 kB/s.
        fixture.unsplash.fail(
            RequestPattern(photo.imagePath), .drip(bytes: 3000, pause: .milliseconds(100)))
        let program = BuiltProducts.path("imagefeedctl")
        let folder = try PrivateBus.current.directory.path
        let line = "stty cols 80; exec \(program) download \(photo.id) -o \(folder)"
        let result = try await ChildProcess(
            "/usr/bin/script", ["-qec", line, "/dev/null"],
            environment: RunningDaemon.environment()
        ).result()
        #expect(result.exit == .code(0), "\(result.output)")
        let shares = Set(result.output.matches(of: /(\d+)%/).compactMap { Int($0.1) })
        #expect(shares.count { 1..<100 ~= $0 } >= 4, "\(result.output.debugDescription)")
        try await fixture.daemon.stop()
    }

    @Test func `downloading an unknown photo fails immediately`() async throws {
        let fixture = try await UnsplashFixture()
        let account = try await fixture.logIn("ada")
        let file = try Destination.file()
        await expectError(ServiceError.notFound.name) {
            _ = try await account.download("abcdefghijk", to: file)
        }
        try await fixture.daemon.stop()
    }

    @Test func `the command line saves a photo`() async throws {
        let fixture = try await UnsplashFixture()
        let account = try await fixture.logIn("ada")
        let photo = try #require(fixture.unsplash.feed.first)
        let folder = try PrivateBus.current.directory.appending("downloads")
        #expect(mkdir(folder, 0o700) == 0)
        let result = try await control("download", photo.id, "-o", folder)
        #expect(result.exit == .code(0))
        #expect(result.error == "")
        #expect(result.output == "\(folder)/\(photo.id).jpg\n")
        let image = try await account.openImage(photo.id, size: "full")
        #expect(
            try Destination.content("downloads/\(photo.id).jpg") == Destination.read(image))
        let refused = try await control("download", photo.id, "-o", folder)
        #expect(refused.exit == .code(1))
        #expect(refused.error.contains("--force"))
        #expect(try await control("download", photo.id, "-o", folder, "--force").exit == .code(0))
        fixture.unsplash.fail("*", .htmlPage)
        let other = try #require(fixture.unsplash.feed.last)
        let failed = try await control("download", other.id, "-o", "\(folder)/other")
        #expect(failed.exit == .code(1))
        #expect(failed.error.split(separator: "\n").count == 1)
        #expect(access("\(folder)/other", F_OK) != 0)
        try await fixture.daemon.stop()
    }
}

/// Runs the built `imagefeedctl` and returns its result.
@MainActor
func control(
    _ arguments: String...
) async throws -> (exit: ChildProcess.Exit, output: String, error: String) {
    try await ChildProcess(
        BuiltProducts.path("imagefeedctl"), arguments, environment: RunningDaemon.environment()
    ).result()
}
