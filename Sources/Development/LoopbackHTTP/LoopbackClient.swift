internal import Glibc

/// Asks servers on loopback, a connection for each request, and changes nothing on the way.
package enum LoopbackClient {
    /// What a server answered.
    package struct Answer: Sendable {
        package let status: Int
        /// In their order.
        package let headers: [(name: String, value: String)]
        /// As it came: chunks are not taken apart.
        package let body: [UInt8]

        package var text: String { String(decoding: body, as: UTF8.self) }

        /// The first value of a header; names compare without case.
        package subscript(header: String) -> String? {
            headers.first { $0.name.lowercased() == header.lowercased() }?.value
        }
    }

    /// Sends a request, and reads until the server closes the connection or as much as is wanted.
    ///
    /// - Parameters:
    ///   - method: GET and so on.
    ///   - url: `http://127.0.0.1:port/path`; `localhost` is the same.
    ///   - headers: Those beside `Host`, `Connection` and `Content-Length`.
    ///   - body: What is sent.
    ///   - maximumBytes: How many bytes are read, of answers without an end.
    /// - Returns: The answer, whatever its status.
    /// - Throws: ``SystemError``; with `EPROTO` for what is not HTTP.
    package static func send(
        _ method: String, _ url: String, headers: [(String, String)] = [],
        body: [UInt8] = [], maximumBytes: Int = 64 << 20
    ) async throws -> Answer {
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
        guard let answer = Answer(received) else { throw SystemError(url, EPROTO) }
        return answer
    }

    private static func exchange(
        _ request: [UInt8], port: UInt16, _ maximumBytes: Int
    ) throws -> [UInt8] {
        let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard connection >= 0 else { throw SystemError("socket", errno) }
        defer { close(connection) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(connection, $0, length) == 0
            }
        }
        guard isConnected else { throw SystemError("connect", errno) }
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

extension LoopbackClient.Answer {
    /// Takes an answer apart; nil if it is none.
    fileprivate init?(_ bytes: [UInt8]) {
        let mark = Array("\r\n\r\n".utf8)
        guard
            let end = bytes.indices.first(where: {
                bytes[$0] == mark[0] && bytes[$0...].starts(with: mark)
            })
        else { return nil }
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
            body: Array(bytes[(end + mark.count)...]))
    }
}
