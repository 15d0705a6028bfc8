package import ServiceSimulator

/// Errors of the API of Unsplash.
extension Fault {
    /// The hourly rate limit: status 403 without JSON, no remaining requests.
    package static let rateLimited = reply(.rateLimited())

    /// A rate limit with status 429, as other services have it.
    package static func tooManyRequests(retryAfterSeconds: Int? = nil) -> Fault {
        var reply = Reply.errors(429, "Too Many Requests")
        reply.set("X-Ratelimit-Remaining", "0")
        if let retryAfterSeconds { reply.set("Retry-After", "\(retryAfterSeconds)") }
        return .reply(reply)
    }

    /// An error in the format of the API.
    package static func status(_ status: Int, error: String) -> Fault {
        reply(.errors(status, error))
    }
}

extension Reply {
    /// Returns an error response of the API: `{"errors":[…]}`.
    package static func errors(_ status: Int, _ errors: String...) -> Reply {
        Reply(status, json: ["errors": .array(errors.map { .string($0) })])
    }

    /// Returns the response for the hourly rate limit, which has text instead of JSON.
    static func rateLimited() -> Reply {
        var reply = Reply(
            403, headers: [("Content-Type", "application/json")],
            body: Array("Rate Limit Exceeded".utf8))
        reply.set("X-Ratelimit-Remaining", "0")
        return reply
    }
}
