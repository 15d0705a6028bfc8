package import ServiceSimulator

/// What this service says when it does not do what it is asked.
extension Fault {
    /// No more requests this hour: 403, no JSON, nothing remaining.
    package static let rateLimited = reply(.rateLimited())

    /// The same as other services say it.
    package static func tooManyRequests(retryAfterSeconds: Int? = nil) -> Fault {
        var reply = Reply.errors(429, "Too Many Requests")
        reply.set("X-Ratelimit-Remaining", "0")
        if let retryAfterSeconds { reply.set("Retry-After", "\(retryAfterSeconds)") }
        return .reply(reply)
    }

    /// An error as the API words it.
    package static func status(_ status: Int, error: String) -> Fault {
        reply(.errors(status, error))
    }
}

extension Reply {
    /// An answer of the API that is an error: `{"errors":[…]}`.
    package static func errors(_ status: Int, _ errors: String...) -> Reply {
        Reply(status, json: ["errors": .array(errors.map { .string($0) })])
    }

    /// The text that takes the place of JSON.
    static func rateLimited() -> Reply {
        var reply = Reply(
            403, headers: [("Content-Type", "application/json")],
            body: Array("Rate Limit Exceeded".utf8))
        reply.set("X-Ratelimit-Remaining", "0")
        return reply
    }
}
