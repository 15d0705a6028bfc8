import TestSupport
import Testing
import Web

@testable import HTTP

@Suite(.timeLimit(.minutes(10))) @MainActor
struct ConnectionTests {
    @Test func `a connection is reused for later requests`() async throws {
        let server = try LoopbackServer(LoopbackResponse(text: "ok"))
        let client = makeClient()
        for _ in 0..<20 { #expect(try await client.text(server.origin) == "ok") }
        #expect(server.connections.value.accepted == 1)
    }

    @Test func `a closed connection is replaced`() async throws {
        let server = try LoopbackServer(LoopbackResponse(text: "ok"))
        let client = makeClient()
        #expect(try await client.text(server.origin) == "ok")
        server.disconnect()
        try await server.connections.wait { $0.open == 0 ? true : nil }
        #expect(try await client.text(server.origin) == "ok")
        #expect(server.connections.value.accepted == 2)
    }

    @Test func `a thousand requests share a few connections`() async throws {
        let server = try LoopbackServer { LoopbackResponse(text: $0.query) }
        let client = makeClient()
        let texts = try await client.texts((0..<1000).map { "\(server.origin)/?\($0)" })
        #expect(texts.count == 1000)
        #expect(server.connections.value.mostOpen <= 6)
    }

    @Test func `connections are closed after the idle time`() async throws {
        let server = try LoopbackServer(LoopbackResponse(text: "ok"))
        let rests = Observed(0)
        let client = makeClient(
            makeLimits { $0.idling = .seconds(5) }, onRest: { rests.update { $0 += 1 } })
        #expect(try await client.text(server.origin) == "ok")
        #expect(!client.isResting && rests.value == 0)
        try await server.connections.wait { $0.open == 0 ? true : nil }
        try await rests.wait { $0 == 1 ? true : nil }
        #expect(client.isResting)
        #expect(try await client.text(server.origin) == "ok")
        #expect(server.connections.value.accepted == 2)
    }

    @Test func `a released client closes its connections`() async throws {
        let server = try LoopbackServer(LoopbackResponse(text: "ok"))
        #expect(try await makeClient().text(server.origin) == "ok")
        try await server.connections.wait { $0.open == 0 ? true : nil }
    }
}
