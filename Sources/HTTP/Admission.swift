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
