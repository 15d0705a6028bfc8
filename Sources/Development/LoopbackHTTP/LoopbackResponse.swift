/// What a ``LoopbackServer`` does for a request: an answer, or any way to fail at one.
package struct LoopbackResponse: Sendable {
    package enum Step: Sendable {
        case send([UInt8])
        /// Sends the same bytes until the client goes away.
        case sendForever([UInt8])
        /// Waits that long, or until the client goes away.
        case pause(Duration)
        /// Waits until the client goes away.
        case silence
        /// Runs something that may block, on the connection's own thread.
        case run(@Sendable () -> Void)
        /// Closes the connection as TCP does it.
        case close
        /// Breaks the connection off: the client sees a reset.
        case reset
    }

    /// Done one after the other. The connection serves the next request afterwards, unless they close it.
    package var steps: [Step]

    package init(steps: [Step]) { self.steps = steps }

    /// An answer.
    ///
    /// - Parameters:
    ///   - status: 200 and so on.
    ///   - headers: Those beside the ones that frame the body.
    ///   - body: All of it.
    ///   - chunked: Whether it goes out in chunks, without telling its length.
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

    /// An answer with a text.
    package init(_ status: Int = 200, headers: [(String, String)] = [], text: String) {
        self.init(status, headers: headers, body: Array(text.utf8))
    }

    /// An answer with JSON.
    package init(_ status: Int = 200, headers: [(String, String)] = [], json: String) {
        self.init(status, headers: [("Content-Type", "application/json")] + headers, text: json)
    }

    /// Points elsewhere.
    package static func redirect(_ status: Int = 302, to location: String) -> LoopbackResponse {
        LoopbackResponse(status, headers: [("Location", location)])
    }

    /// Sends the body in pieces, with a pause before each.
    package static func dripping(
        _ status: Int = 200, headers: [(String, String)] = [], pieces: [[UInt8]], pause: Duration
    ) -> LoopbackResponse {
        let length = pieces.reduce(0) { $0 + $1.count }
        let body: [Step] = pieces.flatMap { [.pause(pause), .send($0)] }
        return LoopbackResponse(steps: [.send(head(status, headers, length: length))] + body)
    }

    /// Promises more than it sends, then ends with `step`: ``Step/close``, ``Step/reset``,
    /// ``Step/silence``.
    package static func truncated(
        _ status: Int = 200, headers: [(String, String)] = [], body: [UInt8], promised: Int,
        end step: Step = .close
    ) -> LoopbackResponse {
        LoopbackResponse(steps: [.send(head(status, headers, length: promised) + body), step])
    }

    /// Sends `piece` again and again, chunked.
    package static func endless(
        headers: [(String, String)] = [], piece: [UInt8] = [UInt8](repeating: 0x61, count: 1 << 14)
    ) -> LoopbackResponse {
        let head = head(200, headers + [("Transfer-Encoding", "chunked")])
        return LoopbackResponse(steps: [.send(head), .sendForever(chunk(piece))])
    }

    /// Any bytes at all, after which the connection is closed.
    package static func raw(_ text: String) -> LoopbackResponse {
        LoopbackResponse(steps: [.send(Array(text.utf8)), .close])
    }

    /// Never answers.
    package static let silence = LoopbackResponse(steps: [.silence])

    /// Breaks the connection off without an answer.
    package static let reset = LoopbackResponse(steps: [.reset])

    // MARK: Parts

    /// A status line and headers, with the empty line at their end.
    package static func head(
        _ status: Int, _ headers: [(String, String)], length: Int? = nil
    ) -> [UInt8] {
        var text = "HTTP/1.1 \(status) \(status < 400 ? "Fine" : "Not So Fine")\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        // These two have no body, and so no length.
        if let length, status != 204, status != 304 { text += "Content-Length: \(length)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// One chunk of a chunked body; nothing for no bytes, since an empty chunk is the last one.
    package static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.isEmpty { return [] }
        return Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    /// The end of a chunked body.
    package static let lastChunk = Array("0\r\n\r\n".utf8)
}
