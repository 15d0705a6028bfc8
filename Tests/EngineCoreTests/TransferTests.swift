import EngineModel
import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import EngineCore

/// Transfers from start to end, and their events.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct TransferTests {
    /// The bytes of every image of the service.
    private nonisolated static let image: [UInt8] =
        [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + [UInt8](1...100)

    private func fixture(isHeld: Bool = false) async throws -> ServiceFixture {
        try await ServiceFixture(["a", "b"]) { ports in
            ports.http.respond(Self.image)
            ports.http.isHeld.update { $0 = isHeld }
        }
    }

    private func start(_ fixture: ServiceFixture, _ photo: String = "a") async throws -> Transfer {
        try await fixture.account.download(photo, into: destination(fixture))
    }

    private func destination(
        _ fixture: ServiceFixture, _ flags: Int32 = O_WRONLY | O_CREAT
    ) throws -> TransferDestination {
        let descriptor = open(path(fixture), flags | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        return try TransferDestination(duplicating: descriptor)
    }

    private func path(_ fixture: ServiceFixture) -> String {
        fixture.base.directory.appending("photo")
    }

    private func written(_ fixture: ServiceFixture) -> [UInt8] {
        let descriptor = open(path(fixture), O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1000)
        return Array(bytes[..<max(0, read(descriptor, &bytes, bytes.count))])
    }

    @Test func `a transfer writes and counts a photo, is removed after a minute`() async throws {
        let fixture = try await fixture()
        let transfer = try await start(fixture)
        #expect(transfer.state == .running)
        try await transfer.wait()
        #expect(transfer.state == .done)
        #expect((transfer.received, transfer.total) == (108, 108))
        #expect(written(fixture) == Self.image)
        try await transfer.wait()
        _ = try await fixture.service.state.wait { $0.requests.contains("download a") ? true : nil }
        try await fixture.waitForEvent("transfer 1 done 108/108")
        let clock = fixture.base.clock
        try await clock.endSleep(at: clock.now.offset + RetainedList<Transfer>.retentionTime)
        try await fixture.waitForEvent("transfer 1 gone")
        #expect(fixture.count("download a") == 1)
        #expect(fixture.engine.transfers.all.isEmpty)
    }

    @Test func `the progress is reported at most ten times a second`() async throws {
        let fixture = try await fixture(isHeld: true)
        let transfer = try await start(fixture)
        // The total is reported at once.
        try await fixture.waitForEvent("transfer 1 running 0/108")
        fixture.ports.http.isHeld.update { $0 = false }
        try await transfer.wait()
        let events = fixture.base.events.value.filter { $0.hasPrefix("transfer 1 ") }
        #expect(events == ["transfer 1 running 0/108", "transfer 1 done 108/108"])
    }

    @Test func `two transfers fetch a photo once, a cancelled one is not counted`() async throws {
        let fixture = try await fixture(isHeld: true)
        let first = try await start(fixture)
        let second = try await start(fixture)
        try await fixture.waitForEvent("transfer 2 running 0/108")
        await first.cancel()
        #expect(first.state == .cancelled)
        fixture.ports.http.isHeld.update { $0 = false }
        try await second.wait()
        #expect(fixture.ports.http.requests.value.count == 1)
        _ = try await fixture.service.state.wait { $0.requests.contains("download a") ? true : nil }
        #expect(fixture.count("download a") == 1)
    }

    @Test func `a cancelled transfer ends at once, and so does its request`() async throws {
        let fixture = try await fixture(isHeld: true)
        let transfer = try await start(fixture)
        try await fixture.waitForEvent("transfer 1 running 0/108")
        let end = Task { try await transfer.wait() }
        await transfer.cancel()
        await #expect(throws: EngineError.cancelled("The transfer was cancelled.")) {
            try await end.value
        }
        #expect(transfer.isOver)
        #expect(written(fixture) == [])
        // Another transfer sends a new request, although the first one got no response.
        let next = try await start(fixture)
        try await fixture.ports.http.requests.wait { $0.count == 2 ? true : nil }
        fixture.ports.http.isHeld.update { $0 = false }
        try await next.wait()
        #expect(written(fixture) == Self.image)
        await next.cancel()
        #expect(next.state == .done)
    }

    @Test func `logging out cancels a transfer`() async throws {
        let fixture = try await fixture(isHeld: true)
        let transfer = try await start(fixture)
        try await fixture.engine.accounts.logOut(fixture.account)
        #expect(transfer.state == .cancelled)
        await #expect(throws: EngineError.self) { try await transfer.wait() }
        await #expect(throws: EngineError.self) { _ = try await start(fixture) }
    }

    @Test func `a response that is no image fails the transfer and does not count`() async throws {
        let fixture = try await fixture()
        fixture.ports.http.respond(Array("<html>".utf8))
        let transfer = try await start(fixture)
        await #expect(throws: ProviderError.self) { try await transfer.wait() }
        #expect(transfer.state == .failed)
        #expect(written(fixture) == [])
        #expect(fixture.count("download a") == 0)
    }

    @Test func `a destination that is not writable is refused`() async throws {
        let fixture = try await fixture()
        _ = try destination(fixture)
        #expect(throws: EngineError.self) { try destination(fixture, O_RDONLY) }
        #expect(throws: EngineError.self) { try TransferDestination(duplicating: -1) }
    }
}
