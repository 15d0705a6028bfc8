import Glibc
import TestSupport
import Testing
import Web

@testable import HTTP

/// Downloads whose connection is interrupted.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct ResumptionTests {
    private let image: ImageFile
    private var file: Int32 { image.descriptor }
    nonisolated private static let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }

    init() throws { image = try ImageFile() }

    /// True if the file has the whole body. A Boolean, because a comparison in `#expect` would print all bytes.
    private var isComplete: Bool { image.contents == Self.bytes }

    /// Starts a server that interrupts a number of responses after a number of bytes.
    private func server(
        breaking: Int, after count: Int = 100_000,
        headers: [(String, String)] = [("ETag", "\"a\"")],
        end: LoopbackResponse.Step = .reset,
        change: @escaping @Sendable (Int, inout LoopbackResponse) -> Void = { _, _ in }
    ) throws -> LoopbackServer {
        let requestCount = Observed(0)
        return try LoopbackServer { request in
            let number = requestCount.value
            requestCount.update { $0 += 1 }
            let start = request["Range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
            let rest = Array(Self.bytes[start...])
            let total = Self.bytes.count
            let range = ("Content-Range", "bytes \(start)-\(total - 1)/\(total)")
            let status = start > 0 ? 206 : 200
            let fields = headers + (start > 0 ? [range] : [])
            var response =
                number < breaking
                ? LoopbackResponse.truncated(
                    status, headers: fields, body: Array(rest.prefix(count)), promised: rest.count,
                    end: end)
                : LoopbackResponse(status, headers: fields, body: rest)
            change(number, &response)
            return response
        }
    }

    private func download(_ server: LoopbackServer, _ client: CurlClient? = nil) async throws
        -> (response: HTTPResponse, progress: [HTTPProgress])
    {
        let progress = Observed<[HTTPProgress]>()
        let response = try await (client ?? makeClient()).download(
            HTTPRequest(.get, server.origin), into: file
        ) { progress.append($0) }
        return (response, progress.value)
    }

    @Test(arguments: [
        [("ETag", "\"a\"")], [("Last-Modified", "Sat, 07 Nov 2026 09:00:00 GMT")],
        [("ETag", "W/\"a\""), ("Last-Modified", "Sat, 07 Nov 2026 09:00:00 GMT")],
    ])
    func `an interrupted download is resumed`(headers: [(String, String)]) async throws {
        let server = try server(breaking: 2, headers: headers)
        let (response, progress) = try await download(server)
        #expect(isComplete)
        #expect(response.status == 200)
        let total = Self.bytes.count
        #expect(progress.last == HTTPProgress(received: total, total: total))
        #expect(progress.map(\.received) == progress.map(\.received).sorted())
        let requests = server.requests.value
        #expect(requests.count == 3)
        #expect(requests[0]["Range"] == nil)
        for request in requests.dropFirst() {
            #expect(request["Range"]?.hasPrefix("bytes=") == true)
            #expect(request["If-Range"] == headers.last?.1)
        }
    }

    @Test func `a download from a silent server is resumed`() async throws {
        let server = try server(breaking: 1, end: .silence)
        let client = makeClient(makeLimits { $0.silence = .seconds(6) })
        _ = try await download(server, client)
        #expect(isComplete)
    }

    @Test func `the time limit without further bytes includes retries`() async throws {
        let server = try server(breaking: .max, end: .silence) { number, response in
            if number > 0 { response = .silence }
        }
        let client = makeClient(makeLimits { $0.silence = .seconds(6) })
        let request = HTTPRequest(.get, server.origin).with { $0.timeLimit = .milliseconds(12_300) }
        await #expect(throws: HTTPError.failed("the server sent nothing for 12.3 seconds")) {
            try await client.download(request, into: file) { _ in }
        }
        // The pause before the third attempt exceeds the remaining time.
        #expect(server.requests.value.count == 2)
    }

    @Test(arguments: [[], [("ETag", "W/\"a\"")], [("ETag", "\"a\""), ("Accept-Ranges", "none")]])
    func `a download without a strong validator is not resumed`(
        headers: [(String, String)]
    ) async throws {
        let server = try server(breaking: 1, headers: headers)
        await #expect(throws: HTTPError.self) { try await download(server) }
        #expect(server.requests.value.count == 1)
    }

    @Test(arguments: [
        LoopbackResponse(200, text: "another"), LoopbackResponse(416, text: ""),
        LoopbackResponse(206, headers: [("Content-Range", "bytes 5-9/10")], text: "other"),
        LoopbackResponse(404, text: "gone"),
    ])
    func `a response that does not continue is a failure`(other: LoopbackResponse) async throws {
        let server = try server(breaking: 1) { number, response in
            if number > 0 { response = other }
        }
        await #expect(throws: HTTPError.self) { try await download(server) }
        let isPrefix = Self.bytes.starts(with: image.contents)
        #expect(isPrefix)
    }

    @Test func `the number of retries without progress is limited`() async throws {
        let server = try server(breaking: .max, after: 10, end: .close)
        await #expect(throws: HTTPError.self) { try await download(server) }
        #expect(server.requests.value.count == 11)
    }

    @Test func `a download that waits for a retry can be cancelled`() async throws {
        let server = try server(breaking: 1) { number, response in
            if number > 0 { response = LoopbackResponse(steps: [.close]) }
        }
        let client = makeClient()
        let running = Task { try await download(server, client) }
        // After the second attempt, there is a pause.
        _ = try await server.requests.elements(2)
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
    }

    @Test func `only requests without effects are repeated`() async throws {
        let server = try LoopbackServer { request in
            request.path == "/first"
                ? LoopbackResponse(text: "ok") : LoopbackResponse(steps: [.close])
        }
        let client = makeClient()
        #expect(try await client.text("\(server.origin)/first") == "ok")
        // On a connection that has worked before.
        await #expect(throws: HTTPError.self) {
            try await client.send(HTTPRequest(.post, "\(server.origin)/like"))
        }
        #expect(server.requests.value.count { $0.path == "/like" } == 1)
        #expect(try await client.text("\(server.origin)/first") == "ok")
        // A GET has no effects.
        await #expect(throws: HTTPError.self) {
            try await client.send(HTTPRequest(.get, "\(server.origin)/page"))
        }
        #expect(server.requests.value.count { $0.path == "/page" } > 1)
    }
}
