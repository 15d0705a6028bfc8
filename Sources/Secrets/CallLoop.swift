internal import CSecret
internal import Synchronization
internal import Web

/// A loop that runs asynchronous calls of GLib to completion on the thread that created it, within a time limit.
///
/// The synchronous calls of libsecret are not used, because a cancelled call that prompts waits forever if the keyring
/// ignores the cancellation. A call that does not end after its cancellation is abandoned together with its memory.
final class CallLoop {
    private let functions: shim_secret
    private let limits: KeyringLimits
    private let context: OpaquePointer?
    private let cancellation: CallCancellation
    private var deadline: ContinuousClock.Instant
    /// The connection on which the ends of prompts are reported, and the subscription; nil before
    /// ``watchPrompts(on:)``.
    private var prompts: (bus: GObjectReference, subscription: UInt32)?
    /// True if a prompt has ended since the start of the last call.
    private var promptHasEnded = false

    typealias Start = (
        UnsafeMutablePointer<GCancellable>?, GAsyncReadyCallback, UnsafeMutableRawPointer
    ) -> Void
    typealias ErrorPointer = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>

    /// - Parameters:
    ///   - functions: The functions of libsecret and GLib.
    ///   - limits: The time limits of the calls.
    ///   - cancellation: Ends the calls early.
    init(_ functions: shim_secret, _ limits: KeyringLimits, _ cancellation: CallCancellation) {
        self.functions = functions
        self.limits = limits
        self.cancellation = cancellation
        deadline = .now + limits.reading
        context = functions.g_main_context_new()
        functions.g_main_context_push_thread_default(context)
        if let context { cancellation.begin(context, functions) }
    }

    /// Handles the remaining events, because GLib frees some objects only in their handlers.
    deinit {
        if let (bus, subscription) = prompts {
            functions.g_dbus_connection_signal_unsubscribe(bus.pointer, subscription)
        }
        prompts = nil
        cancellation.end()
        while functions.g_main_context_iteration(context, 0) != 0 {}
        functions.g_main_context_pop_thread_default(context)
        functions.g_main_context_unref(context)
    }

    /// Sets the total time limit of the calls that follow.
    func setTimeLimit(_ duration: Duration) { deadline = .now + duration }

    /// Makes a call and waits for its completion.
    ///
    /// - Parameters:
    ///   - start: Calls the asynchronous function with these last arguments.
    ///   - finish: Calls the function that returns the result.
    /// - Returns: The result of `finish`.
    /// - Throws: ``KeyringFailure``; ``KeyringFailure/noReply`` after the time limit.
    func call<Value>(
        _ start: Start, finish: (OpaquePointer, ErrorPointer) -> Value
    ) throws -> Value {
        let result = try wait(start)
        var error: UnsafeMutablePointer<GError>?
        let value = withExtendedLifetime(result) { finish(result.pointer, &error) }
        if let error {
            defer { functions.g_error_free(error) }
            throw KeyringFailure(error, functions)
        }
        return value
    }

    /// Makes a call that may prompt, and waits for its completion.
    ///
    /// libsecret never completes a call whose prompt ends with an unexpected result, such as that of KeePassXC for a
    /// dismissed prompt.
    ///
    /// - Returns: The result of `finish`; nil if the prompt has ended and the call has not.
    /// - Throws: The errors of ``call(_:finish:)``.
    func promptingCall<Value>(
        _ start: Start, finish: (OpaquePointer, ErrorPointer) -> Value
    ) throws -> Value? {
        do {
            return try call(start, finish: finish)
        } catch KeyringFailure.noReply where promptHasEnded {
            return nil
        }
    }

    /// Reports the ends of keyring prompts to this loop, for its lifetime.
    ///
    /// - Parameter bus: The connection that libsecret uses. It is retained.
    func watchPrompts(on bus: GObjectReference) {
        let subscription = functions.g_dbus_connection_signal_subscribe(
            bus.pointer, "org.freedesktop.secrets", "org.freedesktop.Secret.Prompt", "Completed",
            nil, nil, G_DBUS_SIGNAL_FLAGS_NONE,
            { _, _, _, _, _, _, context in
                guard let context else { return }
                Unmanaged<CallLoop>.fromOpaque(context).takeUnretainedValue().recordPromptEnd()
            }, Unmanaged.passUnretained(self).toOpaque(), nil)
        prompts = (bus, subscription)
    }

    /// Records that a prompt has ended, and shortens the time limit of the call that waits for it.
    private func recordPromptEnd() {
        promptHasEnded = true
        deadline = min(deadline, .now + limits.cancelling)
    }

    private func wait(_ start: Start) throws -> GObjectReference {
        let cancellable = functions.g_cancellable_new()
        defer { functions.g_object_unref(cancellable) }
        let reply = Reply(functions)
        promptHasEnded = false
        start(
            cancellable,
            { _, result, context in
                guard let context else { return }
                Unmanaged<Reply>.fromOpaque(context).takeRetainedValue().take(result)
            }, Unmanaged.passRetained(reply).toOpaque())
        while reply.result == nil, !cancellation.isCancelled, iterate(until: deadline) {}
        if reply.result == nil {
            functions.g_cancellable_cancel(cancellable)
            let end = ContinuousClock.now + limits.cancelling
            while reply.result == nil, iterate(until: end) {}
        }
        guard let result = reply.result else { throw KeyringFailure.noReply }
        return result
    }

    /// Waits for an event and handles it.
    ///
    /// - Returns: False if the deadline has passed.
    private func iterate(until deadline: ContinuousClock.Instant) -> Bool {
        let left = deadline - .now
        guard left > .zero else { return false }
        let (seconds, attoseconds) = left.components
        // The timer has no other effect than to end the iteration.
        let timer = functions.g_timeout_source_new(
            UInt32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
        defer { functions.g_source_unref(timer) }
        functions.g_source_set_callback(timer, { _ in 0 }, nil, nil)
        _ = functions.g_source_attach(timer, context)
        defer { functions.g_source_destroy(timer) }
        _ = functions.g_main_context_iteration(context, 1)
        return true
    }
}

/// Ends the calls of a loop early, from any thread.
final class CallCancellation: Sendable {
    /// True after ``cancel()``, and the function that wakes the loop; nil if no loop exists.
    private let state = Mutex((isCancelled: false, wake: nil as (@Sendable () -> Void)?))

    /// True after ``cancel()``.
    var isCancelled: Bool { state.withLock(\.isCancelled) }

    /// Ends the call in progress and all later calls.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.wake?()
        }
    }

    /// Wakes a context on cancellation, until ``end()``.
    fileprivate func begin(_ context: OpaquePointer, _ functions: shim_secret) {
        nonisolated(unsafe) let context = context
        state.withLock { $0.wake = { functions.g_main_context_wakeup(context) } }
    }

    fileprivate func end() { state.withLock { $0.wake = nil } }
}

/// The result of one call.
private final class Reply {
    private let functions: shim_secret
    private(set) var result: GObjectReference?

    init(_ functions: shim_secret) { self.functions = functions }

    func take(_ result: OpaquePointer?) {
        guard let result else { return }
        _ = functions.g_object_ref(UnsafeMutableRawPointer(result))
        self.result = GObjectReference(result, functions)
    }
}
