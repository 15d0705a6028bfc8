/// What a client asked of a ``LoopbackServer``.
package struct LoopbackRequest: Hashable, Sendable {
    package struct Header: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    package let method: String
    /// As it came, escaped: `/path?query`.
    package let target: String
    /// In their order.
    package let headers: [Header]
    package internal(set) var body: [UInt8]
    /// Which connection it came on; the first one is 1.
    package let connection: Int

    /// The part of ``target`` before the `?`.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The part of ``target`` after the `?`; empty if there is none.
    package var query: String { String(target.drop { $0 != "?" }.dropFirst()) }

    /// The body as text.
    package var text: String { String(decoding: body, as: UTF8.self) }

    /// `http://host:port` as the client called it; for addresses in answers.
    package var origin: String { "http://\(self["Host"] ?? "127.0.0.1")" }

    /// The first value of a header; names compare without case.
    package subscript(header: String) -> String? {
        headers.first { $0.name.lowercased() == header.lowercased() }?.value
    }
}

extension LoopbackRequest {
    /// Reads a request line and headers, without the empty line at their end; nil for nonsense.
    init?(head: some Sequence<UInt8>, connection: Int) {
        var lines = String(decoding: Array(head), as: UTF8.self)
            .split(separator: "\r\n", omittingEmptySubsequences: false)[...]
        guard let parts = lines.popFirst()?.split(separator: " "), parts.count == 3 else {
            return nil
        }
        method = String(parts[0])
        target = String(parts[1])
        var headers: [Header] = []
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            headers.append(Header(name: String(line[..<colon]), value: String(value)))
        }
        self.headers = headers
        body = []
        self.connection = connection
    }
}
