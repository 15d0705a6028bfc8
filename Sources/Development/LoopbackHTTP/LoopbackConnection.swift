internal import Glibc

/// One connection of a ``LoopbackServer``. Its methods block the calling thread.
struct LoopbackConnection {
    let socket: Int32
    let number: Int
    /// True if the beginning of TLS is answered with an error in plain HTTP, as servers do.
    let answersTLS: Bool

    /// Serves requests until the client or a response ends the connection. Does not close the socket.
    func serve(_ handler: (LoopbackRequest) -> LoopbackResponse) {
        var received: [UInt8] = []
        while let request = readRequest(&received) {
            for step in handler(request).steps {
                guard perform(step) else { return }
            }
            if request["Connection"]?.lowercased() == "close" { return }
        }
    }

    /// Performs a step of a response.
    ///
    /// - Returns: False if the step ends the connection.
    private func perform(_ step: LoopbackResponse.Step) -> Bool {
        switch step {
        case .send(let bytes): return write(bytes)
        case .sendForever(let bytes):
            while write(bytes) {}
            return false
        case .pause(let duration):
            let milliseconds = duration / .milliseconds(1)
            return !isClosed(within: Int32(milliseconds))
        case .silence:
            while !isClosed(within: -1) {}
            return false
        case .run(let work):
            work()
            return true
        case .close: return false
        case .reset:
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(
                socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            return false
        }
    }

    /// Returns true if the client closes the connection within a time; -1 waits without limit.
    private func isClosed(within milliseconds: Int32) -> Bool {
        // POLLRDHUP, which the feature test macros hide from Swift.
        let closed: Int16 = 0x2000
        var event = pollfd(fd: socket, events: closed, revents: 0)
        while poll(&event, 1, milliseconds) < 0 && errno == EINTR {}
        return event.revents != 0
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    // MARK: Reading

    /// Reads the next request; returns nil at the end of the connection and for an invalid request. The bytes after the
    /// request remain in `received`.
    private func readRequest(_ received: inout [UInt8]) -> LoopbackRequest? {
        var end = LoopbackRequest.endOfHead(received)
        while end == nil {
            guard read(&received) else { return nil }
            if answersTLS, received.first == 0x16 {
                _ = write(Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8))
                return nil
            }
            end = LoopbackRequest.endOfHead(received)
        }
        guard let end,
            var request = LoopbackRequest(head: received[..<end], connection: number)
        else { return nil }
        received.removeFirst(end + 4)
        guard let length = Int(request["Content-Length"] ?? "0"), length >= 0 else { return nil }
        if request["Expect"]?.lowercased() == "100-continue" {
            guard write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) else { return nil }
        }
        while received.count < length {
            guard read(&received) else { return nil }
        }
        request.body = Array(received.prefix(length))
        received.removeFirst(length)
        return request
    }

    private func read(_ received: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            received += buffer[..<count]
            return true
        }
    }
}
