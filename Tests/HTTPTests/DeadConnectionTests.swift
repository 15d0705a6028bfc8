import Glibc
import TestSupport
import Testing
import Web

@testable import HTTP

/// Connections whose network path disappears without a notice, as after a suspend or a change of the Wi-Fi.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct DeadConnectionTests {
    enum Version: CaseIterable {
        case http1
        case http2
    }

    private static let fast = makeLimits { $0.silence = .seconds(6) }
    /// Limits with which the silence of a test ends only after a reported change of the network.
    private static let endedByChange = makeLimits {
        $0.silence = .seconds(200)
        $0.silenceAfterChange = .milliseconds(300)
    }

    private func silentPost(_ service: RelayedService) -> HTTPRequest {
        HTTPRequest(.post, service.origin).with { $0.body = [1] }
    }

    private func request(_ service: RelayedService) -> HTTPRequest {
        HTTPRequest(.get, service.origin).with { $0.timeLimit = .seconds(50) }
    }

    /// Returns a service, and a client with an open connection to it.
    private func makeConnection(
        _ version: Version, _ limits: Limits
    ) async throws -> (service: RelayedService, client: CurlClient) {
        let service = try await RelayedService(version)
        let client = service.makeClient(limits)
        #expect(try await client.text(service.origin) == "ok")
        return (service, client)
    }

    /// Starts a request that the server holds, and waits until it arrives.
    ///
    /// - Returns: A task with the status of the response.
    private func startHeld(
        _ service: RelayedService, _ client: CurlClient
    ) async throws -> Task<Int, any Error> {
        service.isHeld.update { $0 = true }
        let request = request(service)
        let call = Task { try await client.send(request).status }
        _ = try await service.server.requests.elements(2)
        return call
    }

    // MARK: Timeouts

    @Test(arguments: Version.allCases)
    func `a timeout retires the connection, and the request is repeated on a new one`(
        version: Version
    ) async throws {
        let (service, client) = try await makeConnection(version, Self.fast)
        service.relay.freeze()
        #expect(try await client.text(service.origin) == "ok")
        #expect(service.relay.accepted.value == 2)
        #expect(try await client.text(service.origin) == "ok")
        #expect(service.relay.accepted.value == 2)
    }

    @Test(arguments: Version.allCases)
    func `a request with effects fails at a timeout, and the next one uses a new connection`(
        version: Version
    ) async throws {
        let (service, client) = try await makeConnection(version, Self.fast)
        service.relay.freeze()
        let post = silentPost(service)
        #expect(await client.failure(of: post) == .failed)
        #expect(service.relay.accepted.value == 1)
        #expect(try await client.send(post).status == 200)
        #expect(service.relay.accepted.value == 2)
        // The request on the dead connection did not arrive.
        #expect(service.server.requests.value.count { $0.method == "POST" } == 1)
    }

    @Test(arguments: Version.allCases)
    func `the time limit of a request retires the connection`(version: Version) async throws {
        let (service, client) = try await makeConnection(version, Self.endedByChange)
        service.relay.freeze()
        let limited = request(service).with { $0.timeLimit = .seconds(5) }
        #expect(await client.failure(of: limited) == .failed)
        #expect(try await client.text(service.origin) == "ok")
        #expect(service.relay.accepted.value == 2)
    }

    @Test func `all requests on a dead connection are repeated`() async throws {
        let (service, client) = try await makeConnection(.http2, Self.fast)
        service.relay.freeze()
        let texts = try await client.texts([String](repeating: service.origin, count: 5))
        #expect(texts == ["ok"])
        #expect(service.server.requests.value.count == 6)
        #expect(service.relay.accepted.value == 2)
    }

    @Test(arguments: Version.allCases)
    func `a cancelled request on a silent connection retires it`(version: Version) async throws {
        let (service, client) = try await makeConnection(
            version, makeLimits { $0.suspiciousSilence = .zero })
        let call = try await startHeld(service, client)
        service.relay.freeze()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        service.isHeld.update { $0 = false }
        #expect(try await client.text(service.origin) == "ok")
        #expect(service.relay.accepted.value == 2)
    }

    @Test func `a request that is cancelled early does not retire the connection`() async throws {
        let (service, client) = try await makeConnection(.http2, .wide)
        let call = try await startHeld(service, client)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        service.isHeld.update { $0 = false }
        #expect(try await client.text(service.origin) == "ok")
        #expect(service.relay.accepted.value == 1)
    }

    @Test(arguments: Version.allCases)
    func `a request to a silent server is repeated at most once`(version: Version) async throws {
        let (service, client) = try await makeConnection(version, Self.fast)
        service.isHeld.update { $0 = true }
        #expect(await client.failure(of: request(service)) == .failed)
        #expect(service.server.requests.value.count == 3)
        // On a new connection, the request is not repeated.
        let other = service.makeClient(Self.fast)
        #expect(await other.failure(of: request(service)) == .failed)
        #expect(service.server.requests.value.count == 4)
    }

    // MARK: Changes of the network

    @Test(arguments: Version.allCases)
    func `a request after a network change uses a new connection`(version: Version) async throws {
        let (service, client) = try await makeConnection(version, Self.endedByChange)
        service.relay.freeze()
        client.replaceConnections()
        #expect(try await client.text(service.origin) == "ok")
        #expect(try await client.send(silentPost(service)).status == 200)
        #expect(service.relay.accepted.value == 2)
    }

    @Test(arguments: Version.allCases)
    func `a request in progress is repeated after a network change`(version: Version) async throws {
        let (service, client) = try await makeConnection(version, Self.endedByChange)
        let call = try await startHeld(service, client)
        service.relay.freeze()
        service.isHeld.update { $0 = false }
        client.replaceConnections()
        #expect(try await call.value == 200)
        #expect(service.relay.accepted.value == 2)
    }

    @Test(arguments: Version.allCases)
    func `a request in progress completes on a working connection after a change of the network`(
        version: Version
    ) async throws {
        let (service, client) = try await makeConnection(
            version, makeLimits { $0.silenceAfterChange = .seconds(60) })
        let call = try await startHeld(service, client)
        client.replaceConnections()
        service.isHeld.update { $0 = false }
        #expect(try await call.value == 200)
        #expect(service.server.requests.value.count == 2)
        #expect(service.relay.accepted.value == 1)
        // The connection closes when its last request has ended.
        try await service.server.connections.wait { $0.open == 0 ? true : nil }
    }

    @Test(arguments: Version.allCases)
    func `a request with effects in progress is not repeated after a change of the network`(
        version: Version
    ) async throws {
        let service = try await RelayedService(version)
        let limits = makeLimits {
            $0.silence = .seconds(6)
            $0.silenceAfterChange = .milliseconds(100)
        }
        let client = service.makeClient(limits)
        service.isHeld.update { $0 = true }
        let post = silentPost(service)
        let call = Task { await client.failure(of: post) }
        _ = try await service.server.requests.elements(1)
        service.relay.freeze()
        client.replaceConnections()
        #expect(await call.value == .failed)
        #expect(service.server.requests.value.count == 1)
        #expect(service.relay.accepted.value == 1)
    }

    @Test func `a request without a connection restarts after a network change`() async throws {
        // The server accepts connections and never responds to the TLS handshake.
        let silent = try LoopbackServer(answersTLS: false) { _ in LoopbackResponse() }
        let client = makeClient(makeLimits { $0.connecting = .seconds(60) })
        var request = HTTPRequest(.post, "https://127.0.0.1:\(silent.port)/")
        request.timeLimit = .seconds(50)
        let call = Task { [request] in await client.failure(of: request) }
        try await silent.connections.wait { $0.accepted == 1 ? true : nil }
        client.replaceConnections()
        try await silent.connections.wait { $0.accepted == 2 && $0.open == 1 ? true : nil }
        call.cancel()
        // An awaited value in the expectation would not be printed.
        let failure = await call.value
        #expect(failure == .cancelled)
    }

    @Test(arguments: Version.allCases)
    func `a download continues after a change of the network`(version: Version) async throws {
        let service = try await RelayedService(version)
        let client = service.makeClient(Self.endedByChange)
        let image = try ImageFile()
        let received = Observed(0)
        let request = HTTPRequest(.get, "\(service.origin)image").with {
            $0.timeLimit = .seconds(50)
        }
        let call = Task {
            try await client.download(request, into: image.descriptor) { progress in
                received.update { $0 = progress.received }
            }.status
        }
        try await received.wait { $0 == 1000 ? true : nil }
        service.relay.freeze()
        client.replaceConnections()
        #expect(try await call.value == 200)
        #expect(received.value == 3000)
        #expect(service.server.requests.value.last?["Range"] == "bytes=1000-")
        #expect(service.relay.accepted.value == 2)
    }

    @Test func `after a suspend a request uses a new connection`() async throws {
        let service = try await RelayedService(.http2)
        let suspended = Observed(Duration.seconds(100))
        let client = service.makeClient(
            Self.endedByChange, suspendedTime: { suspended.value })
        #expect(try await client.text(service.origin) == "ok")
        // The two clocks are not read at the same instant.
        suspended.update { $0 += .milliseconds(1) }
        #expect(try await client.text(service.origin) == "ok")
        #expect(service.relay.accepted.value == 1)
        suspended.update { $0 += .seconds(60) }
        service.relay.freeze()
        #expect(try await client.text(service.origin) == "ok")
        #expect(service.relay.accepted.value == 2)
        #expect(try await client.text(service.origin) == "ok")
        #expect(service.relay.accepted.value == 2)
    }

    @Test func `the system clocks detect no suspend during a test`() {
        let before = CurlClient.suspendedTime()
        #expect(CurlClient.suspendedTime() - before < .seconds(1))
    }

    @Test func `the kernel ends a connection whose data is not acknowledged`() async throws {
        let server = try LoopbackServer(LoopbackResponse(text: "ok"))
        let client = makeClient(makeLimits { $0.acknowledgement = .milliseconds(12_345) })
        #expect(try await client.text(server.origin) == "ok")
        let timeouts = (0..<65_536).compactMap { socket -> UInt32? in
            var (address, addressLength) = (
                sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size)
            )
            let isPeer = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    getpeername(Int32(socket), $0, &addressLength) == 0
                }
            }
            guard isPeer, address.sin_port == server.port.bigEndian else { return nil }
            var (value, length) = (UInt32(0), socklen_t(MemoryLayout<UInt32>.size))
            getsockopt(Int32(socket), Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &value, &length)
            return value
        }
        #expect(timeouts.contains(12_345))
    }

    @Test func `retired connections are closed after the idle time`() async throws {
        let service = try await RelayedService(.http1)
        let rests = Observed(0)
        let client = makeClient(
            makeLimits { $0.idling = .seconds(5) }, onRest: { rests.update { $0 += 1 } })
        #expect(try await client.text(service.origin) == "ok")
        client.replaceConnections()
        #expect(try await client.text(service.origin) == "ok")
        try await rests.wait { $0 == 1 ? true : nil }
        #expect(client.isResting)
        try await service.server.connections.wait { $0.open == 0 ? true : nil }
    }
}

/// A service behind a relay: HTTP/1.1 without TLS, or HTTP/2 with TLS through nghttpx.
private final class RelayedService {
    let server: LoopbackServer
    let relay: LoopbackRelay
    /// True if the server holds its responses.
    let isHeld: Observed<Bool>
    /// The address, with a trailing slash.
    let origin: String
    private let frontend: HTTP2Frontend?

    init(_ version: DeadConnectionTests.Version) async throws {
        let isHeld = Observed(false)
        self.isHeld = isHeld
        server = try LoopbackServer { request in
            while isHeld.value { usleep(10_000) }
            guard request.path == "/image" else { return LoopbackResponse(text: "ok") }
            let headers = [("ETag", "\"a\"")]
            guard request["Range"] == nil else {
                return LoopbackResponse(
                    206, headers: headers + [("Content-Range", "bytes 1000-2999/3000")],
                    body: [UInt8](repeating: 2, count: 2000))
            }
            return .truncated(
                200, headers: headers, body: [UInt8](repeating: 1, count: 1000), promised: 3000,
                end: .silence)
        }
        switch version {
        case .http1:
            frontend = nil
            relay = try LoopbackRelay(to: server.port)
            origin = "http://127.0.0.1:\(relay.port)/"
        case .http2:
            let frontend = try await HTTP2Frontend(to: server.port)
            self.frontend = frontend
            relay = try LoopbackRelay(to: frontend.port)
            origin = "https://127.0.0.1:\(relay.port)/"
        }
    }

    /// Ends the threads of the server.
    deinit { isHeld.update { $0 = false } }

    @MainActor func makeClient(
        _ limits: Limits, suspendedTime: @escaping () -> Duration = { .zero }
    ) -> CurlClient {
        let client = HTTPTests.makeClient(limits, suspendedTime: suspendedTime)
        if let frontend { client.certificateFiles = ["127.0.0.1": frontend.certificate] }
        return client
    }
}
