internal import CDBus

/// One call that waits for its reply: resumed by the reply, the deadline, the end of the connection or
/// cancellation, whichever comes first.
final class ReplyWaiter {
    private var continuation: CheckedContinuation<BusMessage, any Error>?
    private var pending: OpaquePointer?
    /// Why it failed before it began.
    private var failure: (any Error)?
    private let onArrival: (BusMessage) -> Void

    init(onArrival: @escaping (BusMessage) -> Void) { self.onArrival = onArrival }

    /// Resumes `continuation` exactly once.
    ///
    /// Takes over the reference to `pending`, which is nil if the call could not be sent.
    func begin(
        _ continuation: CheckedContinuation<BusMessage, any Error>, _ pending: OpaquePointer?
    ) {
        guard let pending else { return continuation.resume(throwing: BusError.disconnected) }
        self.continuation = continuation
        self.pending = pending
        dbus_pending_call_set_notify(
            pending,
            { pending, context in
                guard let pending, let context else { return }
                nonisolated(unsafe) let arguments = (pending, context)
                MainActor.assumeIsolated {
                    Unmanaged<ReplyWaiter>.fromOpaque(arguments.1).takeUnretainedValue()
                        .finish(arguments.0)
                }
            },
            Unmanaged.passRetained(self).toOpaque(),
            { context in context.map { Unmanaged<ReplyWaiter>.fromOpaque($0).release() } })
        if let failure { fail(failure) }
    }

    /// Ends the wait, unless it has ended.
    func fail(_ error: any Error) {
        failure = error
        guard let pending else { return }
        self.pending = nil
        dbus_pending_call_cancel(pending)
        dbus_pending_call_unref(pending)
        continuation?.resume(throwing: error)
        continuation = nil
    }

    private func finish(_ completed: OpaquePointer) {
        guard pending != nil, let reply = dbus_pending_call_steal_reply(completed) else { return }
        pending = nil
        let message = BusMessage(receiving: reply)
        onArrival(message)
        continuation?.resume(returning: message)
        continuation = nil
        dbus_pending_call_unref(completed)
    }
}
