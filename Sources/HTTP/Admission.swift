internal import Web

/// A scheduler that starts the transfers of a client when a connection is available for them.
final class Admission {
    /// The position of a transfer in the queue.
    struct Ticket: Hashable {
        fileprivate let number: Int
    }

    private var queue: TransferQueue<WebAddress.Origin, Ticket>
    private var starts: [Ticket: () -> Void] = [:]
    private var lastNumber = 0
    private var isClosed = false

    init(_ limits: Limits) { queue = TransferQueue(limits: limits) }

    /// Returns a ticket for ``enter(_:_:to:start:)``.
    func makeTicket() -> Ticket {
        lastNumber += 1
        return Ticket(number: lastNumber)
    }

    /// Queues a transfer. Must not be called in a callback of libcurl.
    ///
    /// - Parameters:
    ///   - ticket: A ticket that was not used before.
    ///   - kind: The kind of the transfer.
    ///   - host: The server that the transfer connects to.
    ///   - plugin: The plugin that the transfer is for; nil for a built-in provider.
    ///   - start: Starts the transfer. Called once: within this call if a connection is available, later
    ///     otherwise; never after ``leave(_:)``.
    func enter(
        _ ticket: Ticket, _ kind: TransferKind, to host: WebAddress.Origin, for plugin: String?,
        start: @escaping () -> Void
    ) {
        guard !isClosed else { return }
        starts[ticket] = start
        begin(queue.add(ticket, kind, to: host, for: plugin))
    }

    /// Removes a transfer that ended, and starts the transfers that waited for its connection. Must not be called in a
    /// callback of libcurl.
    func leave(_ ticket: Ticket) {
        starts[ticket] = nil
        begin(queue.remove(ticket))
    }

    /// Discards the queued transfers. Later calls of `enter` have no effect.
    func close() {
        isClosed = true
        queue.removeWaiting()
        starts = [:]
    }

    private func begin(_ tickets: [Ticket]) {
        for ticket in tickets { starts.removeValue(forKey: ticket)?() }
    }
}

/// The memory for large responses to plugins. Each plugin has a share of its own.
///
/// Responses that do not fit wait until other responses to the same plugin are released. A response that fits does not
/// wait for a larger response that was requested earlier.
final class ResponseMemory {
    private struct Waiting {
        let number: Int
        let bytes: Int
        let plugin: String
        let grant: (MemoryReservation) -> Void
    }

    private let limit: Int
    /// The bytes of the responses to each plugin.
    private var used: [String: Int] = [:]
    private var waiting: [Waiting] = []
    private var lastNumber = 0

    /// - Parameter limit: The number of bytes of all responses to a plugin. A larger response is granted alone.
    init(limit: Int) { self.limit = limit }

    /// Requests memory.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes.
    ///   - plugin: The plugin that receives the response.
    ///   - grant: Receives the memory, within this call if it is available. Not called after ``cancel(_:)``.
    /// - Returns: The number of the request for ``cancel(_:)``; nil if the memory was granted.
    func request(
        _ bytes: Int, for plugin: String, grant: @escaping (MemoryReservation) -> Void
    ) -> Int? {
        guard !fits(bytes, plugin) else {
            grant(reserve(bytes, plugin))
            return nil
        }
        lastNumber += 1
        waiting.append(Waiting(number: lastNumber, bytes: bytes, plugin: plugin, grant: grant))
        return lastNumber
    }

    /// Withdraws a request.
    func cancel(_ number: Int) { waiting.removeAll { $0.number == number } }

    private func fits(_ bytes: Int, _ plugin: String) -> Bool {
        used[plugin].map { $0 + bytes <= limit } ?? true
    }

    private func reserve(_ bytes: Int, _ plugin: String) -> MemoryReservation {
        used[plugin, default: 0] += bytes
        return MemoryReservation { [weak self] in
            Task { @MainActor in self?.release(bytes, plugin) }
        }
    }

    private func release(_ bytes: Int, _ plugin: String) {
        let rest = (used[plugin] ?? 0) - bytes
        used[plugin] = rest > 0 ? rest : nil
        while let index = waiting.firstIndex(where: {
            $0.plugin == plugin && fits($0.bytes, plugin)
        }) {
            let next = waiting.remove(at: index)
            next.grant(reserve(next.bytes, plugin))
        }
    }
}
