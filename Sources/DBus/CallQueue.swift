/// The calls that wait until they are handled, and the number of unfinished calls of each client.
///
/// The clients take turns, so that a client with many calls delays only its own. The calls of one client keep their
/// order.
nonisolated struct CallQueue<Call> {
    /// The largest number of unfinished calls of a client: those that wait and those in progress.
    static var limit: Int { 256 }

    static var exceeded: ErrorReply {
        ErrorReply(
            .limitsExceeded,
            "\(limit) calls of this client are not finished yet; wait until some have finished.")
    }

    private var unfinished: [BusName?: Int] = [:]
    /// The clients with waiting calls, in the order of their turns, and these calls in their order.
    private var waiting: [(client: BusName?, calls: [Call])] = []

    /// True if no call waits.
    var isEmpty: Bool { waiting.isEmpty }

    /// Adds a call of a client.
    ///
    /// - Returns: False if the client has reached the limit. Then the call is not added.
    mutating func add(_ call: Call, of client: BusName?) -> Bool {
        guard unfinished[client, default: 0] < Self.limit else { return false }
        unfinished[client, default: 0] += 1
        if let index = waiting.firstIndex(where: { $0.client == client }) {
            waiting[index].calls.append(call)
        } else {
            waiting.append((client, [call]))
        }
        return true
    }

    /// Removes the next call of the next client; returns nil if no call waits. The call is unfinished until
    /// ``finish(_:)``.
    mutating func next() -> Call? {
        guard !waiting.isEmpty else { return nil }
        var (client, calls) = waiting.removeFirst()
        let call = calls.removeFirst()
        if !calls.isEmpty { waiting.append((client, calls)) }
        return call
    }

    /// Records that a call of a client has finished.
    mutating func finish(_ client: BusName?) {
        guard let count = unfinished[client] else { return }
        unfinished[client] = count > 1 ? count - 1 : nil
    }
}
