package import JSONFormat
package import ProviderKit

// The coding of HTTP requests and responses.

extension HTTPRequest {
    /// The largest size of the body of a request or a response of a plugin, in bytes.
    package static let maximumPluginBytes = 8 << 20

    package var json: JSON {
        let text = String(validating: body, as: UTF8.self)
        return [
            "method": .string(method.rawValue), "url": .string(url), "headers": headers.json,
            "body": body.isEmpty ? .null : JSON(text),
            "body_base64": text == nil ? .string(Base64.encode(body)) : .null,
        ]
    }

    /// Reads a request of a plugin. The address is not checked.
    package init(_ reader: PluginReader) throws(PluginFault) {
        let name = try reader.text("method") ?? "GET"
        guard let method = Method(rawValue: name) else {
            throw PluginFault(
                "\(reader.path).method is not GET, POST, PUT, PATCH, DELETE, PROPFIND, PROPPATCH, REPORT or SEARCH"
            )
        }
        self.init(method, try reader.requiredText("url"))
        headers = try reader.headers()
        body = try reader.body()
        maximumBytes = Self.maximumPluginBytes
    }
}

extension HTTPResponse {
    package init(_ reader: PluginReader) throws(PluginFault) {
        self.init(
            status: try reader.required("status", reader.count), headers: try reader.headers(),
            body: try reader.body(), url: try reader.requiredText("url"))
    }
}

/// The line that answers a call with a response, in parts, so that a large body is not in memory twice.
package struct ResponseLine: Sequence, IteratorProtocol, Sendable {
    private let body: [UInt8]
    private let isText: Bool
    private var position = 0
    /// The text before the body; empty after the first part.
    private var head: [UInt8]

    /// The bytes of the body in a part, a multiple of 3, which Base64 encodes without padding.
    private static let partBytes = 48 << 10

    package init(_ response: HTTPResponse, answering id: JSON) {
        let body = response.body
        let escapes = body.reduce(0) { $0 + JSON.escapeBytes($1) }
        // A control character takes six bytes. A body with many of them is shorter in Base64.
        let isText = escapes <= body.count && (try? UTF8Span(validating: body.span)) != nil
        let result: JSON = [
            "status": .integer(Int64(response.status)), "url": .string(response.url),
            "headers": response.headers.json,
        ]
        head = Array(#"{"jsonrpc":"2.0","id":"#.utf8) + id.line.dropLast()
        head += #","result":"#.utf8 + result.line.dropLast(2)
        if !body.isEmpty { head += (isText ? #","body":""# : #","body_base64":""#).utf8 }
        (self.body, self.isText) = (body, isText)
    }

    package mutating func next() -> [UInt8]? {
        guard position < body.count || !head.isEmpty else { return nil }
        var part = head
        head = []
        let end = Swift.min(position + Self.partBytes, body.count)
        body.withUnsafeBufferPointer {
            let bytes = UnsafeBufferPointer(rebasing: $0[position..<end])
            if isText {
                part.appendEscaped(bytes)
            } else {
                part += Base64.encodedBytes(Array(bytes))
            }
        }
        position = end
        if end == body.count { part += (body.isEmpty ? "}}\n" : "\"}}\n").utf8 }
        return part
    }
}

extension HTTPHeaders {
    fileprivate var json: JSON {
        .array(fields.map { .array([.string($0.name), .string($0.value)]) })
    }
}

extension PluginReader {
    fileprivate func body() throws(PluginFault) -> [UInt8] {
        if let text = try text("body") { return Array(text.utf8) }
        guard let text = try text("body_base64") else { return [] }
        guard let body = Base64.decode(text) else {
            throw PluginFault("\(path).body_base64 is not Base64")
        }
        return body
    }

    /// Returns the header fields of an array of pairs of name and value.
    fileprivate func headers() throws(PluginFault) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for element in try elements("headers", atMost: 200) {
            guard case .array(let pair) = element.value, pair.count == 2,
                case .string(let name) = pair[0], case .string(let value) = pair[1]
            else { throw PluginFault("\(element.path) is not a pair of name and value") }
            headers.append(name, value)
        }
        return headers
    }
}
