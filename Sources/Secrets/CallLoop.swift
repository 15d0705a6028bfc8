internal import CSecret
internal import ProviderKit
internal import Synchronization

/// Waits for asynchronous calls of GLib on the thread that it was made on, within a time limit.
///
/// libsecret's synchronous calls would do, were it not for their prompts: one that is called off waits for ever
/// if the keyring does not take note of it. So a call that does not even end when it is called off is left
/// behind, with the memory that it holds.
final class CallLoop {
    private let functions: shim_secret
    private let limits: KeyringLimits
    private let context: OpaquePointer?
    private let cancellation: CallCancellation
    private var deadline: ContinuousClock.Instant
    /// Whether a prompt has ended since the last call was made.
    private var promptHasEnded = false

    typealias Start = (
        UnsafeMutablePointer<GCancellable>?, GAsyncReadyCallback, UnsafeMutableRawPointer
    ) -> Void
    typealias ErrorPlace = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>

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

    /// Handles what is left to be done: GLib frees some things only then.
    deinit {
        cancellation.end()
        while functions.g_main_context_iteration(context, 0) != 0 {}
        functions.g_main_context_pop_thread_default(context)
        functions.g_main_context_unref(context)
    }

    /// Gives the calls that follow so much time together.
    func allow(_ duration: Duration) { deadline = .now + duration }

    /// Makes a call and waits for its end.
    ///
    /// - Parameters:
    ///   - start: Calls the asynchronous function with these last arguments.
    ///   - finish: Calls the function that takes the result.
    /// - Returns: What `finish` returns.
    /// - Throws: ``KeyringFailure``; ``KeyringFailure/noAnswer`` when time is up.
    func call<Value>(
        _ start: Start, finish: (OpaquePointer, ErrorPlace) -> Value
    ) throws -> Value {
        let result = try wait(start)
        defer { functions.g_object_unref(UnsafeMutableRawPointer(result)) }
        var error: UnsafeMutablePointer<GError>?
        let value = finish(result, &error)
        if let error {
            defer { functions.g_error_free(error) }
            throw KeyringFailure(error, functions)
        }
        return value
    }

    /// Makes a call that may prompt, and waits for its end.
    ///
    /// libsecret forgets a call whose prompt ends with a result that it does not expect: KeePassXC has such a
    /// one for a prompt that was dismissed.
    ///
    /// - Returns: What `finish` returns; nil when the prompt has ended, but the call has not.
    /// - Throws: What ``call(_:finish:)`` throws.
    func promptingCall<Value>(
        _ start: Start, finish: (OpaquePointer, ErrorPlace) -> Value
    ) throws -> Value? {
        do {
            return try call(start, finish: finish)
        } catch KeyringFailure.noAnswer where promptHasEnded {
            return nil
        }
    }

    /// Tells it that a prompt has ended: the call that waits for that has little time left.
    func notePromptEnd() {
        promptHasEnded = true
        deadline = min(deadline, .now + limits.cancelling)
    }

    private func wait(_ start: Start) throws -> OpaquePointer {
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
        guard let result = reply.takeResult() else { throw KeyringFailure.noAnswer }
        return result
    }

    /// Waits for something to do and does it.
    ///
    /// - Returns: Whether there was time left.
    private func iterate(until deadline: ContinuousClock.Instant) -> Bool {
        let left = deadline - .now
        guard left > .zero else { return false }
        let (seconds, attoseconds) = left.components
        // Wakes the iteration; that it is called is all it has to do.
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
    private struct State {
        var isCancelled = false
        var wake: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())

    /// True after ``cancel()``.
    var isCancelled: Bool { state.withLock(\.isCancelled) }

    /// Ends the call in progress, and those that follow.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.wake?()
        }
    }

    /// Wakes a context at a cancellation, until ``end()``.
    fileprivate func begin(_ context: OpaquePointer, _ functions: shim_secret) {
        nonisolated(unsafe) let context = context
        state.withLock { $0.wake = { functions.g_main_context_wakeup(context) } }
    }

    fileprivate func end() { state.withLock { $0.wake = nil } }
}

/// The result of one call.
private final class Reply {
    private let functions: shim_secret
    private(set) var result: OpaquePointer?

    init(_ functions: shim_secret) { self.functions = functions }

    deinit { if let result { functions.g_object_unref(UnsafeMutableRawPointer(result)) } }

    func take(_ result: OpaquePointer?) {
        guard let result else { return }
        self.result = OpaquePointer(functions.g_object_ref(UnsafeMutableRawPointer(result)))
    }

    /// Hands over the reference.
    func takeResult() -> OpaquePointer? {
        defer { result = nil }
        return result
    }
}
