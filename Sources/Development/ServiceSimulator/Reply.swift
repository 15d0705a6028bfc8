internal import LoopbackHTTP

/// A response of the simulator, and the way in which it is sent.
package struct Reply: Sendable {
    package enum Delivery: Sendable {
        case whole
        /// All header fields with a length that is one byte too large, half of the body, and the end of the connection.
        case truncated
        /// All header fields with the correct length, half of the body, and the end of the connection.
        case dropped
        /// The chunked body, repeated until the client closes the connection.
        case endless
        /// A number of bytes at a time, with a pause before each piece.
        case drip(bytes: Int, pause: Duration)
        /// A connection reset without a response.
        case reset
        /// No response, until the client closes the connection.
        case silence
    }

    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    package var delivery = Delivery.whole

    package init(_ status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package init(_ status: Int, html: String, headers: [(name: String, value: String)] = []) {
        self.init(
            status, headers: [("Content-Type", "text/html; charset=utf-8")] + headers,
            body: Array(html.utf8))
    }

    package init(_ status: Int, text: String) {
        self.init(status, headers: [("Content-Type", "text/plain")], body: Array(text.utf8))
    }

    package init(_ status: Int, json: JSON, headers: [(name: String, value: String)] = []) {
        self.init(
            status, headers: [("Content-Type", "application/json")] + headers,
            body: Array(json.text.utf8))
    }

    package static func redirect(_ status: Int = 302, to location: String) -> Reply {
        Reply(
            status,
            html: "<html><body>You are being <a href=\"\(location)\">redirected</a>.</body></html>",
            headers: [("Location", location)])
    }

    /// Sets a header field, replacing an existing one in its position.
    package mutating func set(_ name: String, _ value: String) {
        if let index = headers.firstIndex(where: { $0.name.lowercased() == name.lowercased() }) {
            headers[index].value = value
        } else {
            headers.append((name, value))
        }
    }

    // MARK: Sending

    var response: LoopbackResponse {
        switch delivery {
        case .whole:
            LoopbackResponse(steps: [.send(head(("Content-Length", "\(body.count)")) + body)])
        case .truncated:
            LoopbackResponse(steps: [
                .send(head(("Content-Length", "\(body.count + 1)")) + body.prefix(body.count / 2)),
                .close,
            ])
        case .dropped:
            LoopbackResponse(steps: [
                .send(head(("Content-Length", "\(body.count)")) + body.prefix(body.count / 2)),
                .close,
            ])
        case .endless:
            LoopbackResponse(steps: [
                .send(head(("Transfer-Encoding", "chunked"))),
                .sendForever(LoopbackResponse.chunk(body.isEmpty ? [0x20] : body)),
            ])
        case .drip(let bytes, let pause):
            LoopbackResponse(
                steps: [.send(head(("Content-Length", "\(body.count)")))]
                    + stride(from: 0, to: body.count, by: max(1, bytes)).flatMap { start in
                        [.pause(pause), .send(Array(body[start...].prefix(max(1, bytes))))]
                    })
        case .reset: .reset
        case .silence: .silence
        }
    }

    /// Returns the status line and header fields. The framing field is the second one, as at Unsplash.
    private func head(_ framing: (name: String, value: String)) -> [UInt8] {
        var lines = ["HTTP/1.1 \(status) \(Self.reasons[status] ?? "Unknown")"]
        lines.append("Connection: keep-alive")
        // Responses with status 204 and 304 have no body and no length.
        if status != 204 && status != 304 { lines.append("\(framing.name): \(framing.value)") }
        lines += headers.map { "\($0.name): \($0.value)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    private static let reasons = [
        200: "OK", 201: "Created", 204: "No Content", 206: "Partial Content",
        301: "Moved Permanently", 302: "Found",
        303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 410: "Gone", 416: "Range Not Satisfiable",
        422: "Unprocessable Entity",
        429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway",
        503: "Service Unavailable",
    ]
}
