internal import ProviderKit

/// The head of a request of a browser.
///
/// Source: RFC 9112 §3 and §5.
nonisolated struct RequestHead: Sendable {
    /// The size limit of a head, in bytes.
    static let maximumLength = 16 << 10

    let method: Substring
    /// The part of the target before the `?`.
    let path: Substring
    /// The part of the target after the `?`; empty if there is none.
    let query: Substring
    let headers: HTTPHeaders

    /// Parses a head; nil if it is not a head of HTTP/1.
    ///
    /// - Parameter bytes: The head without the empty line at the end.
    init?(_ bytes: some Collection<UInt8>) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        // `\r\n` is one character of a string.
        var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        guard !text.utf8.contains(0), !lines.isEmpty else { return nil }
        let start = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false)
        guard start.count == 3, !start[0].isEmpty, start[1].hasPrefix("/"),
            start[2] == "HTTP/1.1" || start[2] == "HTTP/1.0"
        else { return nil }
        method = start[0]
        let parts = start[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts[0]
        query = parts.count > 1 ? parts[1] : ""
        var headers = HTTPHeaders()
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
                !line[..<colon].contains(where: \.isWhitespace)
            else { return nil }
            let value = line[line.index(after: colon)...].split(separator: " ")
            headers.append(String(line[..<colon]), value.joined(separator: " "))
        }
        self.headers = headers
    }
}

nonisolated extension RequestHead {
    /// Returns the page for a request that is no redirect from a service, and changes nothing.
    ///
    /// - Parameter host: The address of the listener, `127.0.0.1:PORT`. A redirect names it like the redirect address,
    ///   which contains 127.0.0.1 and never `localhost` (RFC 8252 §8.3). Any other host comes from a foreign page or
    ///   from a DNS name that resolves to this machine.
    /// - Returns: The page; nil for a redirect.
    func refusal(by host: String) -> ResponsePage? {
        if headers.all("Host") != [host] { return .wrongHost }
        if path != RedirectListener.path { return .notFound }
        if method != "GET" { return .wrongMethod(hasBody: method != "HEAD") }
        return isSpeculative || isEmbedded ? .notNow : nil
    }

    /// True if the browser fetches the page before the user opens it. It sends another request when the user does.
    private var isSpeculative: Bool {
        ["Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"].contains { name in
            headers.all(name).contains { value in
                let value = value.lowercased()
                return value.contains("prefetch") || value.contains("preview")
            }
        }
    }

    /// True if a page requests a part of itself, such as an image or a frame. A redirect is a page.
    ///
    /// Source: W3C Fetch Metadata §2.1. Older browsers do not send the header.
    private var isEmbedded: Bool { headers.all("Sec-Fetch-Dest").contains { $0 != "document" } }
}
