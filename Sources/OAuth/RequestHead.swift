internal import ProviderKit

/// The head of a request that a browser sends.
///
/// Source: RFC 9112 §3 and §5.
nonisolated struct RequestHead: Sendable {
    /// The largest head that is read, in bytes.
    static let maximumLength = 16 << 10

    let method: Substring
    /// Before the `?`.
    let path: Substring
    /// After the `?`; empty where there is none.
    let query: Substring
    let headers: HTTPHeaders

    /// - Parameter bytes: Without the empty line at the end. nil if they are no head of HTTP/1.
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

/// What is to be done about a request, by its head alone.
nonisolated enum RequestKind: Sendable {
    /// The browser comes back from a service, if a login knows the state.
    case redirect(RedirectParameters)
    /// Something else: it is told so, and nothing changes.
    case other(ResponsePage)

    /// - Parameters:
    ///   - head: Of the request.
    ///   - host: Where we listen: `127.0.0.1:PORT`. A redirect names it as the redirect address does,
    ///     which says 127.0.0.1 and never `localhost` (RFC 8252 §8.3): whoever says anything else was
    ///     sent here by a page that is none of ours, or by a name that was made to lead here.
    init(_ head: RequestHead, host: String) {
        guard head.headers.all("Host") == [host] else {
            self = .other(.wrongHost)
            return
        }
        guard head.path == RedirectListener.path else {
            self = .other(.notFound)
            return
        }
        guard head.method == "GET" else {
            self = .other(.wrongMethod(hasBody: head.method != "HEAD"))
            return
        }
        guard !head.isSpeculative, !head.isEmbedded else {
            self = .other(.notNow)
            return
        }
        guard let parameters = RedirectParameters(query: head.query) else {
            self = .other(.noAnswer)
            return
        }
        self = .redirect(parameters)
    }
}

nonisolated extension RequestHead {
    /// Whether nobody has gone here yet: a browser fetches ahead, and asks again when somebody does.
    fileprivate var isSpeculative: Bool {
        ["Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"].contains { name in
            headers.all(name).contains { value in
                let value = value.lowercased()
                return value.contains("prefetch") || value.contains("preview")
            }
        }
    }

    /// Whether a page asks for a part of itself, a picture or a frame: a redirect is a page.
    ///
    /// Source: W3C Fetch Metadata §2.1; older browsers do not say.
    fileprivate var isEmbedded: Bool {
        headers.all("Sec-Fetch-Dest").contains { $0 != "document" }
    }
}
