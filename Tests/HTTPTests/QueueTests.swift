import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import HTTP

/// Many transfers at a time.
@MainActor
@Suite(.timeLimit(.minutes(1)))
struct QueueTests {
    /// Starts a server that answers requests for `/image` when the gate is open, and all others at once.
    private func makeServer() throws -> (LoopbackServer, Gate) {
        let gate = Gate()
        let server = try LoopbackServer { request in
            let answer = LoopbackResponse(text: request.path)
            guard request.path == "/image" else { return answer }
            let wait: @Sendable () -> Void = { gate.wait() }
            return LoopbackResponse(steps: [.run(wait)] + answer.steps)
        }
        return (server, gate)
    }

    /// Downloads to a file that nobody reads.
    private func download(_ client: CurlClient, _ request: HTTPRequest) async -> Failure? {
        let file = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        do {
            let response = try await client.download(request, into: file) { _ in }
            return response.isSuccess ? nil : .other
        } catch {
            return Failure(error)
        }
    }

    private func start(
        _ count: Int, _ client: CurlClient, _ request: HTTPRequest
    ) -> [Task<Failure?, Never>] {
        (0..<count).map { _ in Task { await download(client, request) } }
    }

    @Test func `the time in the queue does not count as time for connecting`() async throws {
        let server = try LoopbackServer(
            LoopbackResponse(
                steps: [.pause(.milliseconds(400))] + LoopbackResponse(text: "ok").steps))
        // Twenty at six at a time take four times as long as one.
        let client = makeClient(makeLimits { $0.connecting = .milliseconds(600) })
        let downloads = start(20, client, HTTPRequest(.get, server.origin))
        let requests = (0..<20).map { _ in
            Task { await client.failure(of: HTTPRequest(.get, server.origin)) }
        }
        for task in downloads + requests { #expect(await task.value == nil) }
        #expect(server.connections.value.mostOpen <= 8)
    }

    @Test func `the time in the queue does not count for a download`() async throws {
        let server = try LoopbackServer(
            LoopbackResponse(
                steps: [.pause(.milliseconds(600))] + LoopbackResponse(text: "ok").steps))
        let client = makeClient(makeLimits { $0.transfersPerHost = 1 })
        let request = HTTPRequest(.get, server.origin).with { $0.timeLimit = .seconds(1) }
        for task in start(3, client, request) { #expect(await task.value == nil) }
    }

    @Test func `slow images do not delay a request to the same server`() async throws {
        let (server, gate) = try makeServer()
        let client = makeClient()
        let image = HTTPRequest(.get, "\(server.origin)/image")
        let images = start(20, client, image)
        _ = try await server.requests.elements(6)
        for number in 0..<10 {
            #expect(try await client.text("\(server.origin)/\(number)") == "/\(number)")
        }
        #expect(server.requests.value.count { $0.path == "/image" } == 6)
        gate.open()
        for task in images { #expect(await task.value == nil) }
    }

    @Test func `slow images of many servers do not delay a request to another`() async throws {
        let servers = try (0..<6).map { _ in try makeServer() }
        let client = makeClient()
        let images = servers.flatMap { server, _ in
            start(6, client, HTTPRequest(.get, "\(server.origin)/image"))
        }
        for (server, _) in servers.prefix(4) { _ = try await server.requests.elements(4) }
        let other = try LoopbackServer(LoopbackResponse(text: "ok"))
        #expect(try await client.text(other.origin) == "ok")
        for (_, gate) in servers { gate.open() }
        for task in images { #expect(await task.value == nil) }
    }

    @Test func `a transfer waits only so long for a connection, and the server is not blamed`()
        async throws
    {
        let (server, gate) = try makeServer()
        let client = makeClient(
            makeLimits {
                $0.transfersPerHost = 1
                $0.queueing = .milliseconds(300)
            })
        let image = HTTPRequest(.get, "\(server.origin)/image")
        let first = start(1, client, image)
        let slow = Task { await client.failure(of: image) }
        _ = try await server.requests.elements(2)
        #expect(await download(client, image) == .failed)
        let request = image.with { $0.timeLimit = .milliseconds(300) }
        #expect(await client.failure(of: request) == .failed)
        #expect(server.requests.value.count == 2)
        gate.open()
        #expect(await slow.value == nil)
        for task in first { #expect(await task.value == nil) }
        // The connections are free again.
        #expect(await download(client, image) == nil)
    }

    @Test func `a transfer that is cancelled in the queue sends nothing`() async throws {
        let (server, gate) = try makeServer()
        let client = makeClient(makeLimits { $0.transfersPerHost = 1 })
        let image = HTTPRequest(.get, "\(server.origin)/image")
        let first = start(1, client, image)
        _ = try await server.requests.elements(1)
        let cancelled = start(3, client, image)
        for task in cancelled { task.cancel() }
        for task in cancelled { #expect(await task.value == .cancelled) }
        gate.open()
        for task in first { #expect(await task.value == nil) }
        #expect(await download(client, image) == nil)
        #expect(server.requests.value.count == 2)
    }

    @Test func `a client that is closed starts nothing that waits`() async throws {
        let (server, gate) = try makeServer()
        defer { gate.open() }
        let client = makeClient(makeLimits { $0.transfersPerHost = 1 })
        let images = start(3, client, HTTPRequest(.get, "\(server.origin)/image"))
        _ = try await server.requests.elements(1)
        client.close()
        for task in images { #expect(await task.value == .failed) }
        #expect(server.requests.value.count == 1)
        #expect(client.isResting)
    }
}

/// A gate at which the threads of a server wait until a test opens it.
nonisolated private final class Gate: Sendable {
    // The functions of semaphores may be called on any thread.
    private nonisolated(unsafe) let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func open() { sem_post(semaphore) }

    /// Blocks until ``open()``.
    func wait() {
        while sem_wait(semaphore) < 0 && errno == EINTR {}
        // The gate stays open.
        sem_post(semaphore)
    }
}
