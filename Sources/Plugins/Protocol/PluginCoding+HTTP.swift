package import ProviderKit

// The coding of HTTP requests and responses.

extension HTTPRequest {
    /// The largest size of the body of a request or a response of a plugin, in bytes.
    package static let maximumPluginBytes = 8 << 20

    package var json: JSONValue {
        let fields = headers.fields.map { JSONValue.array([.string($0.name), .string($0.value)]) }
        var members: [String: JSONValue] = [
            "method": .string(method.rawValue), "url": .string(url), "headers": .array(fields),
        ]
        members.setBody(body)
        return .object(members)
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
    package var json: JSONValue {
        let fields = headers.fields.map { JSONValue.array([.string($0.name), .string($0.value)]) }
        var members: [String: JSONValue] = [
            "status": .integer(Int64(status)), "url": .string(url), "headers": .array(fields),
        ]
        members.setBody(body)
        return .object(members)
    }

    /// Returns the line that answers a call with the response.
    ///
    /// The line takes at most twice the memory of the body.
    package func line(answering id: JSONValue) -> [UInt8] {
        guard !body.isEmpty else { return PluginMessage.answer(id: id, result: json).line }
        var head = self
        head.body = []
        var line = Array(#"{"jsonrpc":"2.0","id":"#.utf8) + id.line.dropLast()
        line += #","result":"#.utf8
        // The body is written into the last member of the result, without an intermediate value.
        line += head.json.line.dropLast(2)
        let isText = (try? UTF8Span(validating: body.span)) != nil
        let escapes = body.reduce(0) { $0 + JSONValue.escapeBytes($1) }
        // A control character takes six bytes. A body with many of them is shorter in Base64.
        if isText, escapes <= body.count {
            line += #","body":"#.utf8
            line.reserveCapacity(line.count + body.count + escapes + 8)
            body.withUnsafeBufferPointer { line.appendJSON($0) }
        } else {
            line += #","body_base64":""#.utf8 + Base64.encodedBytes(body)
            line.append(UInt8(ascii: "\""))
        }
        return line + "}}\n".utf8
    }

    package init(_ reader: PluginReader) throws(PluginFault) {
        guard let status = try reader.count("status") else { throw reader.missing("status") }
        self.init(
            status: status, headers: try reader.headers(), body: try reader.body(),
            url: try reader.requiredText("url"))
    }
}

extension [String: JSONValue] {
    /// Adds a body: UTF-8 as text, other bytes in Base64.
    fileprivate mutating func setBody(_ body: [UInt8]) {
        guard !body.isEmpty else { return }
        if let text = String(validating: body, as: UTF8.self) {
            self["body"] = .string(text)
        } else {
            self["body_base64"] = .string(Base64.encode(body))
        }
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
