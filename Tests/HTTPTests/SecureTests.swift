import TestSupport
import Testing
import Web

@testable import HTTP

@Suite(.timeLimit(.minutes(10))) @MainActor
struct SecureTests {
    @Test func `the error for an untrusted certificate of a named server has advice`()
        async throws
    {
        let server = try await SecureServer()
        let request = HTTPRequest(.get, server.origin).naming(server.origin)
        let error = await #expect(throws: HTTPError.self) { try await makeClient().send(request) }
        #expect(
            error
                == .failed(
                    "the certificate of 127.0.0.1 is not trusted; see “Certificates” in imagefeedd(1)"
                ))
    }

    @Test func `the errors of a server without https and of none name the remedies`() async throws {
        let plain = try LoopbackServer(LoopbackResponse())
        let address = plain.origin.replacing("http://", with: "")
        func error(_ origin: String) async -> HTTPError? {
            let request = HTTPRequest(.get, origin).naming(origin)
            return await #expect(throws: HTTPError.self) { try await makeClient().send(request) }
        }
        #expect(
            await error("https://\(address)")
                == .failed(
                    "\(address) does not answer with https; if it has only http, enter http://\(address)"
                ))
        let refused = await error("https://127.0.0.1:1")
        #expect("\(refused, default: "")".hasSuffix("; check the address."))
    }

    @Test func `a file of certificates applies to its host only`() async throws {
        let server = try await SecureServer()
        let client = makeClient()
        client.certificateFiles = ["127.0.0.1": server.certificate]
        #expect(try await client.text(server.origin) == "h2 1")
        client.certificateFiles = ["photos.lan": server.certificate]
        #expect(await client.failure(of: HTTPRequest(.get, server.origin)) == .failed)
        client.certificateFiles = ["127.0.0.1": "/no/such/file.pem"]
        let error = await #expect(throws: HTTPError.self) { try await client.text(server.origin) }
        #expect("\(error, default: "")".contains("/no/such/file.pem"))
    }

    @Test(arguments: [HTTPRequest.Method.get, .post, .propfind])
    func `a redirect of the user's server from http to https is returned, not followed`(
        method: HTTPRequest.Method
    ) async throws {
        let server = try await SecureServer()
        let plain = try LoopbackServer(.redirect(301, to: "\(server.origin)/photos"))
        let client = makeClient(trusting: server.certificate)
        let request = HTTPRequest(method, plain.origin + "/photos").naming(plain.origin)
        #expect(try await client.send(request).secureOrigin == server.origin)
        let other = try LoopbackServer(.redirect(301, to: "https://photos.example/"))
        let away = HTTPRequest(.get, other.origin).naming(other.origin)
        #expect(try await client.send(away).leadsAway)
    }

    @Test func `HTTPS uses HTTP 2 if the server supports it`() async throws {
        let server = try await SecureServer()
        let client = makeClient(trusting: server.certificate)
        #expect(try await client.text(server.origin) == "h2 1")
        // Concurrent requests share one connection.
        let texts = try await client.texts([String](repeating: server.origin, count: 20))
        #expect(texts == ["h2 1"])
    }

    @Test func `a redirect does not lead from https to http`() async throws {
        let plain = try LoopbackServer(LoopbackResponse())
        let server = try await SecureServer(redirect: plain.origin)
        let client = makeClient(trusting: server.certificate)
        let request = HTTPRequest(.get, server.origin).with { $0.allowsLoopback = true }
        #expect(await client.failure(of: request) == .forbiddenAddress)
        #expect(plain.connections.value.accepted == 0)
    }

    @Test func `a redirect may lead from http to https`() async throws {
        let server = try await SecureServer()
        let client = makeClient(trusting: server.certificate)
        let plain = try LoopbackServer(.redirect(to: server.origin))
        let request = HTTPRequest(.get, plain.origin).with { $0.allowsLoopback = true }
        #expect(try await client.send(request).body == Array("h2 1".utf8))
    }

    @Test func `a server without a TLS handshake is unreachable`() async throws {
        let silent = try LoopbackServer(answersTLS: false) { _ in LoopbackResponse() }
        let request = HTTPRequest(.get, "https://127.0.0.1:\(silent.port)/")
        let client = makeClient(makeLimits { $0.connecting = .seconds(1) })
        #expect(await client.failure(of: request) == .unreachable)
    }
}

/// An HTTP/2 server with TLS and a self-signed certificate. Its responses are the protocol and the number of the
/// connection, or a redirect.
private struct SecureServer {
    let origin: String
    let certificate: String
    private let directory: TemporaryDirectory
    private let process: ChildProcess

    init(redirect: String = "") async throws {
        directory = try TemporaryDirectory()
        certificate = directory.appending("certificate.pem")
        let key = directory.appending("key.pem")
        try await HTTP2Frontend.makeCertificate(certificate, key, in: directory)
        process = try ChildProcess(
            "/usr/bin/python3", ["-c", script, certificate, key, redirect],
            environment: directory.environment
        )
        let port = try await process.firstLine()
        try #require(!port.isEmpty, "\(process.standardError.value.text)")
        origin = "https://127.0.0.1:\(port)"
    }
}

/// Source: RFC 9113 §4.1; RFC 7541 for the header fields, none of which is compressed.
private let script = #"""
    import socket, ssl, struct, sys, threading

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    context.set_alpn_protocols(["h2"])
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)

    def frame(kind, flags, stream, payload=b""):
        return struct.pack(">IBBI", len(payload), kind, flags, stream)[1:] + payload

    def fields():
        if not sys.argv[3]:
            return b"\x88"
        location = sys.argv[3].encode()
        return b"\x08\x03302\x0f\x1f" + bytes([len(location)]) + location

    def serve(raw, number):
        with context.wrap_socket(raw, server_side=True) as client:
            stream = client.makefile("rb")
            assert stream.read(24).startswith(b"PRI * HTTP/2")
            client.sendall(frame(4, 0, 0))
            while header := stream.read(9):
                payload = stream.read(int.from_bytes(header[:3], "big"))
                kind, flags, request = header[3], header[4], int.from_bytes(header[5:], "big")
                if kind == 4 and not flags & 1:
                    client.sendall(frame(4, 1, 0))
                if kind == 1:
                    body = f"{client.selected_alpn_protocol()} {number}".encode()
                    client.sendall(frame(1, 4, request, fields()) + frame(0, 1, request, body))

    def attempt(raw, number):
        try:
            serve(raw, number)
        except (OSError, AssertionError):
            pass

    number = 0
    while True:
        raw, _ = listener.accept()
        number += 1
        threading.Thread(target=attempt, args=(raw, number), daemon=True).start()
    """#

@MainActor
private func makeClient(trusting certificate: String) -> CurlClient {
    let client = makeClient()
    client.certificateFiles = ["127.0.0.1": certificate]
    return client
}
