internal import Dispatch

/// One call that waits for its reply: resumed by the reply, the deadline, the end of the connection
/// or cancellation, whichever comes first.
///
/// Not the pending calls of libdbus: those take a reply from anybody who guesses its serial, and
/// are forgotten when the connection is closed.
final class ReplyWaiter {
    /// Who is to answer.
    private let destination: BusName?
    private let onArrival: (BusMessage) -> Void
    private var continuation: CheckedContinuation<BusMessage, any Error>?
    private var deadline: (any DispatchSourceTimer)?
    /// What it ended with before it began.
    private var early: Result<BusMessage, any Error>?
    private var hasEnded = false

    init(for call: BusMessage, onArrival: @escaping (BusMessage) -> Void) {
        destination = call.destination
        self.onArrival = onArrival
    }

    /// Resumes `continuation` exactly once; nil for `timeout` is no deadline.
    func begin(_ continuation: CheckedContinuation<BusMessage, any Error>, timeout: Duration?) {
        if let early { return continuation.resume(with: early) }
        self.continuation = continuation
        guard let timeout else { return }
        let timer = DispatchSource.makeTimerSource(queue: .main)
        timer.schedule(deadline: .now() + .nanoseconds(timeout.clampedNanoseconds))
        timer.setEventHandler { [weak self] in
            self?.fail(BusError.reply(ErrorReply(.noReply, "There was no reply in time.")))
        }
        timer.activate()
        deadline = timer
    }

    /// Ends the wait with `reply`, unless it comes from another than was called.
    ///
    /// The bus answers for those who are not there. The owner of a well-known name answers with its
    /// unique one, which we do not know.
    func finish(_ reply: BusMessage) -> Bool {
        let isAuthentic =
            reply.sender == destination || reply.sender == .bus
            || destination.map { !$0.isUnique && $0 != .bus } ?? true
        guard isAuthentic else { return false }
        onArrival(reply)
        end(.success(reply))
        return true
    }

    /// Ends the wait, unless it has ended.
    func fail(_ error: any Error) { end(.failure(error)) }

    private func end(_ result: Result<BusMessage, any Error>) {
        guard !hasEnded else { return }
        hasEnded = true
        deadline?.cancel()
        deadline = nil
        if let continuation { continuation.resume(with: result) } else { early = result }
        continuation = nil
    }
}

nonisolated extension Duration {
    /// Nanoseconds, from 0 to a century.
    fileprivate var clampedNanoseconds: Int {
        let limits: ClosedRange<Int64> = 0...3_000_000_000
        guard limits.contains(components.seconds) else {
            return components.seconds < 0 ? 0 : Int(limits.upperBound) * 1_000_000_000
        }
        return Int(components.seconds) * 1_000_000_000
            + Int(components.attoseconds / 1_000_000_000)
    }
}
