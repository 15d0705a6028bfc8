import Glibc
import TestSupport
import Testing
import Web

@testable import HTTP

/// Concurrent transfers.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct QueueTests {
    /// Starts a server that responds to `/image` when the gate is open, and to other requests at once.
    private func makeServer() throws -> (LoopbackServer, Gate) {
        let gate = Gate()
        let server = try LoopbackServer { request in
            let response = LoopbackResponse(text: request.path)
            guard request.path == "/image" else { return response }
            let wait: @Sendable () -> Void = { gate.wait() }
            return LoopbackResponse(steps: [.run(wait)] + response.steps)
        }
        return (server, gate)
    }

    /// Downloads to `/dev/null`.
    private func download(_ client: CurlClient, _ request: HTTPRequest) async -> Failure? {
        let file = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        return await client.failure(of: request, into: file)
    }

    private func start(
        _ count: Int, _ client: CurlClient, _ request: HTTPRequest
    ) -> [Task<Failure?, Never>] {
        (0..<count).map { _ in Task { await download(client, request) } }
    }

    @Test func `the connect timeout excludes the time in the queue`() async throws {
        let response = LoopbackResponse(text: "ok").delayed(by: .milliseconds(600))
        let server = try LoopbackServer(response)
        // At most eight run at a time, so the last one waits for 8 seconds.
        let client = makeClient(makeLimits { $0.connecting = .seconds(6) })
        let request = HTTPRequest(.get, server.origin).with { $0.timeLimit = .seconds(300) }
        let downloads = start(60, client, request)
        let requests = (0..<60).map { _ in Task { await client.failure(of: request) } }
        for task in downloads + requests { #expect(await task.value == nil) }
        #expect(server.connections.value.mostOpen <= 8)
    }

    @Test func `the time limit of a download excludes the time in the queue`() async throws {
        let response = LoopbackResponse(text: "ok").delayed(by: .milliseconds(300))
        let server = try LoopbackServer(response)
        let client = makeClient(makeLimits { $0.transfersPerHost = 1 })
        // The last one of 30 waits for 9 seconds.
        let request = HTTPRequest(.get, server.origin).with { $0.timeLimit = .seconds(6) }
        for task in start(30, client, request) { #expect(await task.value == nil) }
    }

    @Test func `slow downloads do not delay a request to the same server`() async throws {
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

    @Test func `slow downloads from many servers do not delay a request to another`() async throws {
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

    @Test func `a transfer in the queue fails after the queue timeout`() async throws {
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
        // The connections are available again.
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

    // MARK: Plugins

    @Test func `silent servers of plugins do not delay other requests`() async throws {
        let server = try LoopbackServer(LoopbackResponse(text: "ok"))
        let silent = try (0..<8).map { _ in
            try LoopbackServer(LoopbackResponse(steps: [.silence]))
        }
        let client = makeClient()
        let requests = (0..<32).map { number in
            let request = HTTPRequest(.get, silent[number % 8].origin).with {
                $0.plugin = "plugin \(number / 8)"
                $0.timeLimit = .seconds(120)
            }
            return Task { await client.failure(of: request) }
        }
        for server in silent.prefix(6) { _ = try await server.requests.elements(4) }
        #expect(try await client.text(server.origin) == "ok")
        #expect(silent.reduce(0) { $0 + $1.requests.value.count } == 24)
        client.close()
        for task in requests { #expect(await task.value == .failed) }
    }

    @Test(arguments: [false, true])
    func `large responses to plugins have a limit together`(chunked: Bool) async throws {
        let body = [UInt8](repeating: 1, count: 2000)
        let server = try LoopbackServer { request in
            LoopbackResponse(body: request.path == "/small" ? [1] : body, chunked: chunked)
        }
        let client = makeClient(
            makeLimits {
                $0.smallBodyBytes = 1000
                $0.pluginBodyBytes = 3000
            })
        func request(_ path: String) -> HTTPRequest {
            HTTPRequest(.get, server.origin + path).with {
                $0.plugin = "plugin \(path)"
                $0.maximumBytes = 2500
            }
        }
        var first: HTTPResponse? = try await client.send(request("/1"))
        #expect(first?.memory != nil)
        await #expect(throws: HTTPError.self) { try await client.send(request("/2")) }
        // A small response, and one for a built-in provider, need no memory of plugins.
        #expect(try await client.send(request("/small")).memory == nil)
        #expect(try await client.send(HTTPRequest(.get, server.origin)).body == body)
        #expect(first?.body == body)
        first = nil
        // The memory is released by a task on the main thread.
        await Task.yield()
        #expect(try await client.send(request("/2")).body == body)
    }

    @Test func `closing a client fails the transfers in the queue`() async throws {
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
