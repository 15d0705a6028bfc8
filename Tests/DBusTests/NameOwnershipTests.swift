import TestSupport
import Testing

@testable import DBus

@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct NameOwnershipTests {
    private let losses = Observed<[String]>()

    @Test func `a free name can be requested repeatedly`() async throws {
        let connection = try PrivateBus.current.connect()
        #expect(try await request(connection, "first"))
        #expect(try await request(connection, "again"))
        #expect(try await connection.owner(of: "a.b") == connection.uniqueName)
    }

    @Test func `a name with another owner is reported as taken`() async throws {
        let bus = try PrivateBus.current
        let (first, second) = (try bus.connect(), try bus.connect())
        #expect(try await request(first, "first"))
        #expect(try await !request(second, "second"))
        // Without a queue, the name is free after its release.
        try await first.releaseName("a.b")
        #expect(try await second.owner(of: "a.b") == nil)
    }

    @Test func `replacing the owner of a name notifies it once`() async throws {
        let bus = try PrivateBus.current
        let (first, second) = (try bus.connect(), try bus.connect())
        #expect(try await request(first, "second"))
        try await first.releaseName("a.b")
        #expect(try await request(second, "unused"))
        #expect(try await !request(first, "in vain"))
        try await second.releaseName("a.b")
        #expect(try await request(first, "first"))
        #expect(try await request(second, "second", replacing: true))
        #expect(try await second.owner(of: "a.b") == second.uniqueName)
        _ = try await first.owner(of: .bus)
        #expect(losses.value == ["first"])
    }

    @Test func `releasing a name is not reported as a loss`() async throws {
        let connection = try PrivateBus.current.connect()
        _ = try await request(connection, "lost")
        try await connection.releaseName("a.b")
        _ = try await connection.owner(of: .bus)
        #expect(losses.value.isEmpty)
    }

    @Test func `requesting a forbidden name fails`() async throws {
        let connection = try PrivateBus.current.connect()
        let name = await errorName {
            _ = try await connection.requestName(":1.5", replacing: false) {}
        }
        #expect(name == .invalidArgs)
    }

    private func request(
        _ connection: BusConnection, _ label: String, replacing: Bool = false
    ) async throws -> Bool {
        try await connection.requestName("a.b", replacing: replacing) { [losses] in
            losses.append(label)
        }
    }
}
