/// A request to a ``LoopbackServer``.
package struct LoopbackRequest: Hashable, Sendable {
    package struct Header: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    package let method: String
    /// The escaped target: `/path?query`.
    package let target: String
    /// The header fields, in the order of the message.
    package let headers: [Header]
    package internal(set) var body: [UInt8]
    /// The number of the connection, from 1.
    package let connection: Int

    /// The part of ``target`` before the `?`.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The part of ``target`` after the `?`; empty if there is none.
    package var query: String { String(target.drop { $0 != "?" }.dropFirst()) }

    /// The body as text.
    package var text: String { String(decoding: body, as: UTF8.self) }

    /// `http://host:port`, as the client addressed the server; for addresses in responses.
    package var origin: String { "http://\(self["Host"] ?? "127.0.0.1")" }

    /// The first value of a header field; names are compared without case.
    package subscript(header: String) -> String? {
        headers.first { $0.name.lowercased() == header.lowercased() }?.value
    }
}

extension LoopbackRequest {
    /// Parses a request line and header fields, without the empty line at the end; nil if they are invalid.
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

    /// Returns the index of the empty line that ends the head of a message; nil if it is incomplete.
    static func endOfHead(_ bytes: [UInt8]) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.count >= mark.count else { return nil }
        return (0...bytes.count - mark.count).first { bytes[$0...].starts(with: mark) }
    }
}
