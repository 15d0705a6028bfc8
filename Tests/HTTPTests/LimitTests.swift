import Glibc
import TestSupport
import Testing
import Translation
import Web

@testable import HTTP

@Suite(.timeLimit(.minutes(10))) @MainActor
struct LimitTests {
    @Test(arguments: [false, true])
    func `a body larger than the limit fails`(chunked: Bool) async throws {
        let server = try LoopbackServer { request in
            let count = Int(request.query) ?? 0
            return LoopbackResponse(body: [UInt8](repeating: 1, count: count), chunked: chunked)
        }
        let client = makeClient()
        let fits = HTTPRequest(.get, "\(server.origin)/?100000").with { $0.maximumBytes = 100_000 }
        #expect(try await client.send(fits).body.count == 100_000)
        let exceeds = HTTPRequest(.get, "\(server.origin)/?100001").with {
            $0.maximumBytes = 100_000
        }
        await #expect(throws: HTTPError.tooLarge(limit: 100_000)) { try await client.send(exceeds) }
    }

    @Test func `an endless body fails at the limit`() async throws {
        let server = try LoopbackServer(.endless())
        #expect(await makeClient().failure(of: HTTPRequest(.get, server.origin)) == .tooLarge)
        try await server.connections.wait { $0.open == 0 ? true : nil }
    }

    @Test func `the limit applies to the decompressed body`() async throws {
        let server = try LoopbackServer(
            LoopbackResponse(
                headers: [("Content-Encoding", "gzip")], body: gzipBomb(pieces: 400_000)))
        #expect(await makeClient().failure(of: HTTPRequest(.get, server.origin)) == .tooLarge)
    }

    @Test(arguments: [[30_000, 30_000, 30_000], [400_000]])
    func `a head larger than the limit fails`(lengths: [Int]) async throws {
        let headers = lengths.map { ("A", String(repeating: "a", count: $0)) }
        let server = try LoopbackServer(LoopbackResponse(headers: headers))
        #expect(await makeClient().failure(of: HTTPRequest(.get, server.origin)) == .tooLarge)
    }

    @Test func `too many header fields fail`() async throws {
        let server = try LoopbackServer(
            LoopbackResponse(headers: (0..<1000).map { ("A\($0)", "b") }))
        #expect(await makeClient().failure(of: HTTPRequest(.get, server.origin)) == .failed)
    }

    @Test(arguments: [
        LoopbackResponse.reset, .truncated(body: [1], promised: 10),
        .truncated(body: [1], promised: 10, end: .reset), .raw(""), .raw("nonsense\r\n\r\n"),
        .raw("HTTP/1.1 2"), .raw("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
        .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        .raw("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"),
    ])
    func `an invalid response is a failure`(response: LoopbackResponse) async throws {
        let server = try LoopbackServer(response)
        #expect(await makeClient().failure(of: HTTPRequest(.get, server.origin)) == .failed)
    }

    @Test func `a silent server is a failure`() async throws {
        let client = makeClient(makeLimits { $0.silence = .milliseconds(200) })
        let mute = try LoopbackServer(.silence)
        #expect(await client.failure(of: HTTPRequest(.get, mute.origin)) == .failed)
        let stuck = try LoopbackServer(.truncated(body: [1], promised: 10, end: .silence))
        #expect(await client.failure(of: HTTPRequest(.get, stuck.origin)) == .failed)
        try await stuck.connections.wait { $0.open == 0 ? true : nil }
    }

    @Test func `a slow response fails at the time limit`() async throws {
        let pieces = [[UInt8]](repeating: [1], count: 1000)
        let server = try LoopbackServer(.dripping(pieces: pieces, pause: .milliseconds(20)))
        let request = HTTPRequest(.get, server.origin).with { $0.timeLimit = .seconds(5) }
        #expect(await makeClient().failure(of: request) == .failed)
    }

    @Test func `a server that does not accept connections is unreachable`() async throws {
        let server = try LoopbackServer(LoopbackResponse())
        server.stop()
        let full = try FullListener()
        let client = makeClient(makeLimits { $0.connecting = .milliseconds(300) })
        try await server.connections.wait { $0.open == 0 ? true : nil }
        for url in [server.origin, "http://127.0.0.1:\(full.port)", "https://missing.invalid/"] {
            #expect(await client.failure(of: HTTPRequest(.get, url)) == .unreachable)
        }
        let error = await #expect(throws: HTTPError.self) {
            try await client.send(HTTPRequest(.get, server.origin))
        }
        #expect(error?.description.contains(" ms") == false)
    }

    @Test func `requests of a closed client fail`() async throws {
        let server = try LoopbackServer(.silence)
        let client = makeClient()
        let running = Task { await client.failure(of: HTTPRequest(.get, server.origin)) }
        _ = try await server.requests.elements(1)
        client.close()
        #expect(await running.value == .failed)
        #expect(await client.failure(of: HTTPRequest(.get, server.origin)) == .failed)
    }

    @Test func `a cancelled request ends at once`() async throws {
        let server = try LoopbackServer(.silence)
        let client = makeClient()
        let running = Task { await client.failure(of: HTTPRequest(.get, server.origin)) }
        _ = try await server.requests.elements(1)
        running.cancel()
        #expect(await running.value == .cancelled)
        try await server.connections.wait { $0.open == 0 ? true : nil }
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await client.failure(of: HTTPRequest(.get, server.origin))
        }
        #expect(await late.value == .cancelled)
    }
}

/// A listener with a full queue, to which no further connection is established.
private final class FullListener {
    let port: UInt16
    private var sockets: [Int32] = []

    init() throws {
        func makeSocket() -> Int32 {
            socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var sockets = [makeSocket()]
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(sockets[0], address, length)
                listen(sockets[0], 0)
                getsockname(sockets[0], address, &length)
                for _ in 0..<4 {
                    sockets.append(makeSocket())
                    _ = connect(sockets[sockets.count - 1], address, length)
                }
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        self.sockets = sockets
    }

    deinit { sockets.forEach { close($0) } }
}

/// Returns compressed data: one letter and its repetition, 258 times per piece. It has no checksum, because the limit
/// is reached before.
///
/// Source: RFC 1951 §3.2.6, fixed Huffman codes.
private func gzipBomb(pieces: Int) -> [UInt8] {
    var bytes: [UInt8] = [31, 139, 8, 0, 0, 0, 0, 0, 2, 255]
    var bits = 0
    var count = 0
    func append(_ value: Int, _ length: Int) {
        bits |= value << count
        count += length
        while count >= 8 {
            bytes.append(UInt8(bits & 255))
            bits >>= 8
            count -= 8
        }
    }
    append(0b011, 3)
    // The letter: 0x30 + 0x61, with its code reversed.
    append(0b1000_1001, 8)
    // Length 258 is 11000101, reversed; distance 1 is 00000.
    for _ in 0..<pieces { append(0b00000_10100011, 13) }
    append(0, 15)
    return bytes
}
