/// The actions of a ``LoopbackServer`` for a request: a response, or a failure.
package struct LoopbackResponse: Sendable {
    package enum Step: Sendable {
        case send([UInt8])
        /// Sends the same bytes until the client closes the connection.
        case sendForever([UInt8])
        /// Waits for a time, or until the client closes the connection.
        case pause(Duration)
        /// Waits until the client closes the connection.
        case silence
        /// Runs a function that may block, on the thread of the connection.
        case run(@Sendable () -> Void)
        /// Closes the connection normally.
        case close
        /// Resets the connection (TCP RST).
        case reset
    }

    /// The actions, in order. Afterwards the connection serves the next request, unless an action ended it.
    package var steps: [Step]

    package init(steps: [Step]) { self.steps = steps }

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - status: The status, such as 200.
    ///   - headers: Header fields besides those that frame the body.
    ///   - body: The whole body.
    ///   - chunked: True to send the body chunked, without its length.
    package init(
        _ status: Int = 200, headers: [(String, String)] = [], body: [UInt8] = [],
        chunked: Bool = false
    ) {
        guard chunked else {
            self.init(steps: [.send(Self.head(status, headers, length: body.count) + body)])
            return
        }
        let head = Self.head(status, headers + [("Transfer-Encoding", "chunked")])
        self.init(steps: [.send(head + Self.chunk(body) + Self.lastChunk)])
    }

    /// Creates a response with a text.
    package init(_ status: Int = 200, headers: [(String, String)] = [], text: String) {
        self.init(status, headers: headers, body: Array(text.utf8))
    }

    /// Creates a response with JSON.
    package init(_ status: Int = 200, headers: [(String, String)] = [], json: String) {
        self.init(status, headers: [("Content-Type", "application/json")] + headers, text: json)
    }

    /// A redirect to another address.
    package static func redirect(_ status: Int = 302, to location: String) -> LoopbackResponse {
        LoopbackResponse(status, headers: [("Location", location)])
    }

    /// A response whose body is sent in pieces, with a pause before each.
    package static func dripping(
        _ status: Int = 200, headers: [(String, String)] = [], pieces: [[UInt8]], pause: Duration
    ) -> LoopbackResponse {
        let length = pieces.reduce(0) { $0 + $1.count }
        let body: [Step] = pieces.flatMap { [.pause(pause), .send($0)] }
        return LoopbackResponse(steps: [.send(head(status, headers, length: length))] + body)
    }

    /// A response with a larger `Content-Length` than its body. It ends with `step`: ``Step/close``, ``Step/reset`` or
    /// ``Step/silence``.
    package static func truncated(
        _ status: Int = 200, headers: [(String, String)] = [], body: [UInt8], promised: Int,
        end step: Step = .close
    ) -> LoopbackResponse {
        LoopbackResponse(steps: [.send(head(status, headers, length: promised) + body), step])
    }

    /// A chunked response that repeats `piece` without an end.
    package static func endless(
        headers: [(String, String)] = [], piece: [UInt8] = [UInt8](repeating: 0x61, count: 1 << 14)
    ) -> LoopbackResponse {
        let head = head(200, headers + [("Transfer-Encoding", "chunked")])
        return LoopbackResponse(steps: [.send(head), .sendForever(chunk(piece))])
    }

    /// Sends any bytes, then closes the connection.
    package static func raw(_ text: String) -> LoopbackResponse {
        LoopbackResponse(steps: [.send(Array(text.utf8)), .close])
    }

    /// Never sends a response.
    package static let silence = LoopbackResponse(steps: [.silence])

    /// Resets the connection without a response.
    package static let reset = LoopbackResponse(steps: [.reset])

    // MARK: Message parts

    /// Returns a status line and header fields, with the empty line at the end.
    package static func head(
        _ status: Int, _ headers: [(String, String)], length: Int? = nil
    ) -> [UInt8] {
        var text = "HTTP/1.1 \(status) \(status < 400 ? "OK" : "Error")\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        // Responses with status 204 and 304 have no body and no length.
        if let length, status != 204, status != 304 { text += "Content-Length: \(length)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// Returns one chunk of a chunked body; no bytes for an empty chunk, which would end the body.
    package static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.isEmpty { return [] }
        return Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    /// The end of a chunked body.
    package static let lastChunk = Array("0\r\n\r\n".utf8)
}
