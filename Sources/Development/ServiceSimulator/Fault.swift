/// What goes wrong with a request, when a test says so.
///
/// One that comes instead of the answer changes nothing at the service; one that comes after it does: a like
/// whose answer got lost is a like.
package struct Fault: Sendable {
    enum Effect: Sendable {
        case instead(Reply)
        case after(@Sendable (inout Reply) -> Void)
    }

    let effect: Effect

    /// What comes instead of the answer; nil where what was asked is done.
    package var insteadOfAnswer: Reply? {
        guard case .instead(let reply) = effect else { return nil }
        return reply
    }

    /// Changes the answer to what was asked, once that is done.
    package func change(_ reply: inout Reply) {
        if case .after(let change) = effect { change(&reply) }
    }

    /// Any answer at all.
    package static func reply(_ reply: Reply) -> Fault { Fault(effect: .instead(reply)) }

    /// Changes the answer that the request gets.
    package static func changed(_ change: @escaping @Sendable (inout Reply) -> Void) -> Fault {
        Fault(effect: .after(change))
    }

    // MARK: Instead of the answer

    /// An error as the proxies in front of the API word it.
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

    /// 200, with a body that a client of the API does not expect. `[{"id":` and `{}` are worth a try.
    package static func json(_ body: String) -> Fault {
        reply(
            Reply(200, headers: [("Content-Type", "application/json")], body: Array(body.utf8)))
    }

    /// 200 with a page, as a captive portal has it; an image that is none.
    package static let htmlPage = reply(
        Reply(200, html: "<!DOCTYPE html>\n<html><body>Please log in to the network</body></html>"))

    /// Points elsewhere.
    package static func redirect(_ status: Int = 302, to location: String) -> Fault {
        reply(.redirect(status, to: location))
    }

    /// Breaks the connection off; nothing was done.
    package static let reset = undelivered(.reset)

    /// Never answers; nothing was done.
    package static let silence = undelivered(.silence)

    // MARK: After what was asked is done

    /// Does what was asked, and breaks the connection off.
    package static let answerLost = changed { $0.delivery = .reset }

    /// Promises more than it sends.
    package static let truncated = changed { $0.delivery = .truncated }

    /// Sends half of it, and breaks the connection off: the rest can be asked for.
    package static let dropped = changed { $0.delivery = .dropped }

    /// Sends without an end.
    package static let endless = changed { $0.delivery = .endless }

    /// Sends some bytes at a time.
    package static func drip(bytes: Int = 1, pause: Duration = .milliseconds(1)) -> Fault {
        changed { $0.delivery = .drip(bytes: bytes, pause: pause) }
    }

    /// Adds a header, as the service does before it changes something: `Warning`.
    package static func header(_ name: String, _ value: String) -> Fault {
        changed { $0.headers.append((name, value)) }
    }

    private static func undelivered(_ delivery: Reply.Delivery) -> Fault {
        var reply = Reply(500)
        reply.delivery = delivery
        return .reply(reply)
    }
}

/// The faults that are switched on.
package struct FaultPlan: Sendable {
    private struct Entry {
        let pattern: RequestPattern
        let fault: Fault
        /// nil is for ever.
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

    /// The fault that a request meets: the first that was switched on and is not used up.
    mutating func next(for request: RecordedRequest) -> Fault? {
        guard let index = entries.firstIndex(where: { $0.pattern.matches(request) }) else {
            return nil
        }
        let fault = entries[index].fault
        if let times = entries[index].times {
            entries[index].times = times - 1
            if times <= 1 { entries.remove(at: index) }
        }
        return fault
    }
}
