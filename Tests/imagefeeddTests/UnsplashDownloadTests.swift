import Contract
import DBus
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of downloads from Unsplash, which counts them.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct UnsplashDownloadTests {
    private let fixture: UnsplashFixture
    private let account: AccountClient
    private let photo: SimulatedPhoto

    init() async throws {
        (fixture, account) = try await logIn(to: UnsplashFixture())
        photo = try #require(fixture.unsplash.feed.first)
    }

    private func start(_ name: String = "photo") async throws -> TransferClient {
        let path = try await account.download(photo.id, to: try Destination.file(name))
        return fixture.client.service.transfer(path)
    }

    @Test func `a photo is downloaded in the best quality and counted`() async throws {
        let count = RequestPattern("/photos/\(photo.id)/download")
        let transfer = try await start()
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
        try await start("again").wait()
        let counts = try await fixture.unsplash.waitForReplies(count, count: 2)
        #expect(counts.allSatisfy { $0.username == "ada" && $0.query["ixid"]?.isEmpty == false })
        #expect(fixture.unsplash.downloads(of: photo.id) == 2)
        #expect(try Destination.content("again") == bytes)
        let images = fixture.unsplash.requests(RequestPattern(photo.imagePath))
        #expect(images.count == 1)
        #expect(images.first?.query["ixid"]?.isEmpty == false)
        #expect(images.first?["Authorization"] == nil)
    }

    @Test func `a download succeeds although counting it fails`() async throws {
        let count = RequestPattern("/photos/\(photo.id)/download")
        fixture.unsplash.fail(count, .htmlStatus(500))
        let transfer = try await start()
        try await transfer.wait()
        try await fixture.unsplash.waitForRequests(count)
        #expect(try await transfer.properties()["State"] == .string("done"))
    }

    @Test func `Received grows with the bytes, and Total is known at once`() async throws {
        fixture.unsplash.fail(
            RequestPattern(photo.imagePath), .drip(bytes: 12288, pause: .milliseconds(100)))
        let changes = try await Signals(
            propertiesOf: ServiceName.transfers.appending("1"), fixture.client.connection)
        try await start().wait()
        let changed = try await changes.messages.wait { messages in
            let changed = messages.compactMap { $0.propertyChange?.values }
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
    }
}
