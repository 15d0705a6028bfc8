internal import System

/// A call that is waiting for its reply. It is resumed by the reply, the timeout, the end of the connection or
/// cancellation, whichever comes first.
///
/// The pending calls of libdbus are not used: they accept a reply from any sender that guesses the serial, and they are
/// dropped without notification when the connection is closed.
final class ReplyWaiter {
    /// The name to which the call was sent.
    private let destination: BusName?
    private let onArrival: (BusMessage) -> Void
    private let result = OneShotResult<BusMessage, any Error>()

    init(for call: BusMessage, onArrival: @escaping (BusMessage) -> Void) {
        destination = call.destination
        self.onArrival = onArrival
    }

    /// Waits for the reply. If `timeout` is nil, there is no time limit.
    func reply(timeout: Duration?) async throws -> BusMessage {
        let deadline = MainLoopTimer { [weak self] in
            self?.fail(BusError.reply(ErrorReply(.noReply, "No reply arrived within the timeout.")))
        }
        if let timeout { deadline.start(after: timeout) }
        defer { deadline.cancel() }
        return try await result.valueUnlessCancelled()
    }

    /// Completes the call with `reply` unless the reply has another sender than the destination.
    ///
    /// The bus replies on behalf of a missing destination. The owner of a well-known name replies with its unique name,
    /// which is unknown here.
    ///
    /// - Returns: False if the reply was rejected, or the call has ended.
    func finish(_ reply: BusMessage) -> Bool {
        let isAuthentic =
            reply.sender == destination || reply.sender == .bus
            || destination.map { !$0.isUnique && $0 != .bus } ?? true
        guard isAuthentic, !result.isComplete else { return false }
        onArrival(reply)
        return result.complete(.success(reply))
    }

    /// Completes the call with an error unless it is already complete.
    func fail(_ error: any Error) { result.complete(.failure(error)) }
}
