internal import ServiceSimulator

/// The header fields of every API response, in the order of the real service.
///
/// Source: recorded responses of `GET /photos` (2021), `GET /search/photos` and `GET /photos/random` (2023).
struct ResponseHeaders {
    var limit: Int
    var remaining: Int
    var requestNumber: Int
    var now: Moment

    /// Adds the header fields of the service to those of a response, in their order.
    func complete(_ reply: Reply) -> Reply {
        var own = reply.headers
        func take(_ name: String) -> [(name: String, value: String)] {
            let found = own.filter { $0.name.lowercased() == name.lowercased() }
            own.removeAll { $0.name.lowercased() == name.lowercased() }
            return found.map { (name, $0.value) }
        }
        func take(_ name: String, or value: String) -> [(name: String, value: String)] {
            let found = take(name)
            return found.isEmpty ? [(name, value)] : found
        }
        let isSuccess = 200..<300 ~= reply.status
        var headers = [(name: "Server", value: "Cowboy")]
        headers += take("Content-Type")
        headers += [
            ("Access-Control-Allow-Origin", "*"),
            ("Access-Control-Request-Method", "*"),
            ("Access-Control-Allow-Headers", "*"),
            (
                "Access-Control-Expose-Headers",
                "Link,X-Total,X-Per-Page,X-RateLimit-Limit,X-RateLimit-Remaining"
            ),
        ]
        headers += take(
            "Cache-Control", or: isSuccess ? "no-cache, no-store, must-revalidate" : "no-cache")
        headers.append(("X-Unsplash-Version", "v1"))
        for name in ["Warning", "Link", "X-Total", "X-Per-Page"] { headers += take(name) }
        headers.append(("Content-Language", "en"))
        if isSuccess { headers.append(("Etag", "W/\"\(tag(reply.body))\"")) }
        headers += take("X-Ratelimit-Limit", or: "\(limit)")
        headers += take("X-Ratelimit-Remaining", or: "\(remaining)")
        headers += [
            ("X-Request-Id", requestID), ("X-Runtime", "0.084689"),
            ("Strict-Transport-Security", "max-age=31536000; includeSubDomains"),
            ("Via", "1.1 vegur, 1.1 varnish, 1.1 varnish"), ("Accept-Ranges", "bytes"),
            ("Date", now.http),
        ]
        headers += take("Age", or: "0")
        headers += take("X-Cache", or: "MISS, MISS")
        headers += take("X-Cache-Hits", or: "0, 0")
        headers += take(
            "Vary", or: "Accept-Encoding, Origin,Authorization,client-geo-region")
        var complete = reply
        complete.headers = headers + own
        return complete
    }

    private var requestID: String {
        var random = SeededRandom(seed: UInt64(requestNumber))
        return [8, 4, 4, 4, 12].map { random.hexadecimal($0) }.joined(separator: "-")
    }

    /// Returns 32 digits from the FNV-1a hash of a body.
    private func tag(_ body: [UInt8]) -> String {
        let hash = body.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        var random = SeededRandom(seed: hash)
        return random.hexadecimal(32)
    }
}
