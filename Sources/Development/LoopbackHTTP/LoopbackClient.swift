internal import Glibc

/// An HTTP client for servers on loopback, with one connection per request. It does not follow redirects.
package enum LoopbackClient {
    /// The response of a server.
    package struct Response: Sendable {
        package let status: Int
        /// The header fields, in the order of the message.
        package let headers: [(name: String, value: String)]
        /// The body as received; chunks are not decoded.
        package let body: [UInt8]

        package var text: String { String(decoding: body, as: UTF8.self) }

        /// The first value of a header field; names are compared without case.
        package subscript(header: String) -> String? {
            headers.first { $0.name.lowercased() == header.lowercased() }?.value
        }
    }

    /// Sends a request and reads the response until the server closes the connection.
    ///
    /// - Parameters:
    ///   - method: The method, such as GET.
    ///   - url: `http://127.0.0.1:port/path`; `localhost` is equivalent.
    ///   - headers: Header fields besides `Host`, `Connection` and `Content-Length`.
    ///   - body: The body of the request.
    ///   - maximumBytes: The maximum number of bytes to read, for responses without an end.
    /// - Returns: The response, with any status.
    /// - Throws: ``SystemError``, with `EPROTO` for an invalid response.
    package static func send(
        _ method: String, _ url: String, headers: [(String, String)] = [],
        body: [UInt8] = [], maximumBytes: Int = 64 << 20
    ) async throws -> Response {
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "http:" else { throw SystemError(url, EINVAL) }
        let authority = parts[2].prefix { $0 != "/" && $0 != "?" }
        var target = String(parts[2].dropFirst(authority.count).prefix { $0 != "#" })
        if !target.hasPrefix("/") { target = "/" + target }
        let port = UInt16(authority.drop { $0 != ":" }.dropFirst()) ?? 80
        var head = "\(method) \(target) HTTP/1.1\r\nHost: \(authority)\r\nConnection: close\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if !body.isEmpty { head += "Content-Length: \(body.count)\r\n" }
        let request = Array((head + "\r\n").utf8) + body
        let received: [UInt8] = try await withCheckedThrowingContinuation { continuation in
            onThread {
                continuation.resume(
                    with: Result { try exchange(request, port: port, maximumBytes) })
            }
        }
        guard let response = Response(received) else { throw SystemError(url, EPROTO) }
        return response
    }

    private static func exchange(
        _ request: [UInt8], port: UInt16, _ maximumBytes: Int
    ) throws -> [UInt8] {
        let connection = try LoopbackSocket.connect(to: port)
        defer { close(connection) }
        var rest = request[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw SystemError("send", errno) }
            rest = rest.dropFirst(count)
        }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while received.count < maximumBytes {
            let count = recv(connection, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw SystemError("recv", errno) }
            if count == 0 { break }
            received += buffer[..<count]
        }
        return received
    }
}

extension LoopbackClient.Response {
    /// Parses a response; nil for invalid bytes.
    fileprivate init?(_ bytes: [UInt8]) {
        guard let end = LoopbackRequest.endOfHead(bytes) else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        let parts = lines[0].split(separator: " ")
        guard parts.count > 1, let status = Int(parts[1]) else { return nil }
        self.init(
            status: status,
            headers: lines.dropFirst().compactMap { line in
                guard let colon = line.firstIndex(of: ":") else { return nil }
                let value = line[line.index(after: colon)...].drop { $0 == " " }
                return (String(line[..<colon]), String(value))
            },
            body: Array(bytes[(end + 4)...]))
    }
}
