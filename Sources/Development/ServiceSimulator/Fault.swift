/// A failure of the service for a request, defined by a test.
///
/// A fault that replaces the response prevents the action. A fault that changes the response does not: a like whose
/// response is lost is stored.
package struct Fault: Sendable {
    enum Effect: Sendable {
        case instead(Reply)
        case answer(@Sendable (RecordedRequest) -> Reply)
        case after(@Sendable (inout Reply) -> Void)
    }

    let effect: Effect

    /// The response that replaces the regular one; nil if the action is performed.
    package var replacement: Reply? {
        guard case .instead(let reply) = effect else { return nil }
        return reply
    }

    /// Changes the response to a performed action.
    package func change(_ reply: inout Reply) {
        if case .after(let change) = effect { change(&reply) }
    }

    /// Replaces the response by one that depends on the request.
    package static func answer(
        _ reply: @escaping @Sendable (RecordedRequest) -> Reply
    ) -> Fault { Fault(effect: .answer(reply)) }

    /// Replaces the response.
    package static func reply(_ reply: Reply) -> Fault { Fault(effect: .instead(reply)) }

    /// Changes the regular response.
    package static func changed(_ change: @escaping @Sendable (inout Reply) -> Void) -> Fault {
        Fault(effect: .after(change))
    }

    // MARK: Faults that prevent the action

    /// An HTML error, as from a proxy in front of the API.
    package static func htmlStatus(_ status: Int) -> Fault {
        reply(
            Reply(
                status,
                html: "<!DOCTYPE html>\n<html><head><title>\(status)</title></head>"
                    + "<body><h1>Error \(status)</h1><p>Guru Meditation</p></body></html>\n"))
    }

    package static func textStatus(_ status: Int, _ text: String) -> Fault {
        reply(Reply(status, text: text))
    }

    /// An error of the OAuth endpoints.
    package static func oauth(_ status: Int, _ error: String, description: String = "") -> Fault {
        reply(
            Reply(
                status,
                json: ["error": .string(error), "error_description": .string(description)]))
    }

    /// Status 200 with an unexpected body, such as `[{"id":` or `{}`.
    package static func json(_ body: String) -> Fault {
        reply(
            Reply(200, headers: [("Content-Type", "application/json")], body: Array(body.utf8)))
    }

    /// Status 200 with an HTML page, as from a captive portal.
    package static let htmlPage = reply(
        Reply(200, html: "<!DOCTYPE html>\n<html><body>Please log in to the network</body></html>"))

    /// A redirect to another address.
    package static func redirect(_ status: Int = 302, to location: String) -> Fault {
        reply(.redirect(status, to: location))
    }

    /// Resets the connection; the action is not performed.
    package static let reset = undelivered(.reset)

    /// Never sends a response; the action is not performed.
    package static let silence = undelivered(.silence)

    // MARK: Faults after the action

    /// Performs the action and resets the connection.
    package static let responseLost = changed { $0.delivery = .reset }

    /// Sends less than the announced length.
    package static let truncated = changed { $0.delivery = .truncated }

    /// Sends half of the body and closes the connection; a range request can continue.
    package static let dropped = changed { $0.delivery = .dropped }

    /// Sends the body without an end.
    package static let endless = changed { $0.delivery = .endless }

    /// Sends the body in small pieces.
    package static func drip(bytes: Int = 1, pause: Duration = .milliseconds(1)) -> Fault {
        changed { $0.delivery = .drip(bytes: bytes, pause: pause) }
    }

    /// Adds a header field, such as a `Warning` of a deprecation.
    package static func header(_ name: String, _ value: String) -> Fault {
        changed { $0.headers.append((name, value)) }
    }

    private static func undelivered(_ delivery: Reply.Delivery) -> Fault {
        var reply = Reply(500)
        reply.delivery = delivery
        return .reply(reply)
    }
}

/// The active faults.
package struct FaultPlan: Sendable {
    private struct Entry {
        let pattern: RequestPattern
        let fault: Fault
        /// The remaining uses; nil for no limit.
        var times: Int?
    }

    private var entries: [Entry] = []

    package init() {}

    mutating func add(_ fault: Fault, _ pattern: RequestPattern, times: Int?) {
        entries.append(Entry(pattern: pattern, fault: fault, times: times))
    }

    mutating func remove(_ pattern: RequestPattern) {
        entries.removeAll { $0.pattern == pattern }
    }

    /// Returns the fault for a request: the first matching one, in the order of activation.
    mutating func next(for request: RecordedRequest) -> Fault? {
        guard let index = entries.firstIndex(where: { $0.pattern.matches(request) }) else {
            return nil
        }
        var fault = entries[index].fault
        if case .answer(let reply) = fault.effect { fault = .reply(reply(request)) }
        if let times = entries[index].times {
            entries[index].times = times - 1
            if times <= 1 { entries.remove(at: index) }
        }
        return fault
    }
}
