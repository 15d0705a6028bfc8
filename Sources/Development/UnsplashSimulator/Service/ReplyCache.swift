internal import ServiceSimulator

/// A cache in front of the service, with one response for each token and address.
struct ReplyCache {
    private struct Entry {
        let reply: Reply
        let stored: Moment
        var hits = 0
    }

    private var entries: [String: Entry] = [:]

    /// Returns the cached response to a request, with its age. The rate limit is that of the time of the response.
    mutating func reply(to request: RecordedRequest, now: Moment) -> Reply? {
        guard Self.isCached(request) else { return nil }
        let key = Self.key(request)
        guard var entry = entries[key] else { return nil }
        entry.hits += 1
        entries[key] = entry
        var reply = entry.reply
        reply.set("Age", "\(max(1, now.secondsSince1970 - entry.stored.secondsSince1970))")
        reply.set("X-Cache", "MISS, HIT")
        reply.set("X-Cache-Hits", "0, \(entry.hits)")
        return reply
    }

    mutating func store(_ reply: Reply, for request: RecordedRequest, now: Moment) {
        guard Self.isCached(request), reply.status == 200 else { return }
        entries[Self.key(request)] = Entry(reply: reply, stored: now)
    }

    private static func key(_ request: RecordedRequest) -> String {
        "\(request["Authorization"] ?? "") \(request.target)"
    }

    private static func isCached(_ request: RecordedRequest) -> Bool {
        request.method == "GET" && !["/me", "/photos/random"].contains(request.path)
            && !request.path.hasSuffix("/download")
    }
}
