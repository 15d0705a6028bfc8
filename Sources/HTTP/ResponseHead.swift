internal import Translation
internal import Web

/// The status and the header fields of a response, parsed line by line.
nonisolated struct ResponseHead {
    private(set) var status = 0
    private(set) var headers = HTTPHeaders()
    /// True if the header is complete.
    private(set) var isComplete = false
    private var bytes = 0
    private var lines = 0

    /// Parses a line with its terminator. The lines of interim responses and trailers are discarded.
    ///
    /// - Throws: ``HTTPError/tooLarge(limit:)``, ``HTTPError/failed(_:)``.
    mutating func receive(_ line: UnsafeRawBufferPointer, _ limits: Limits) throws(HTTPError) {
        bytes += line.count
        lines += 1
        guard bytes <= limits.headerBytes else { throw .tooLarge(limit: limits.headerBytes) }
        guard lines <= limits.headerFields + 8 else {
            throw .failed(
                Message(
                    "the response has more than {count} header fields",
                    ["count": "\(limits.headerFields)"]))
        }
        guard !isComplete else { return }
        let text = String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            headers = HTTPHeaders()
            status = text.split(separator: " ").dropFirst().first.flatMap { Int($0.prefix(3)) } ?? 0
        } else if let colon = text.firstIndex(of: ":") {
            headers.append(
                String(text[..<colon]), String(text[text.index(after: colon)...].trimmed))
        } else if text.trimmed.isEmpty {
            isComplete = status >= 200
        }
    }

    /// The length of the body; nil if it is not known before the decompression.
    var bodyLength: Int? {
        guard headers["Content-Encoding"] == nil, headers["Transfer-Encoding"] == nil else {
            return nil
        }
        return headers["Content-Length"].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
