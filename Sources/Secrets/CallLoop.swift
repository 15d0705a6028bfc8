internal import CSecret
internal import ProviderKit

/// Waits for asynchronous calls of GLib on the thread that it was made on, within a time limit.
///
/// libsecret's synchronous calls would do, were it not for their prompts: one that is called off waits for ever
/// if the keyring does not take note of it. So a call that does not even end when it is called off is left
/// behind, with the memory that it holds.
final class CallLoop {
    private let functions: shim_secret
    private let limits: KeyringLimits
    private let context: OpaquePointer?
    private var deadline: ContinuousClock.Instant

    typealias Start = (
        UnsafeMutablePointer<GCancellable>?, GAsyncReadyCallback, UnsafeMutableRawPointer
    ) -> Void
    typealias ErrorPlace = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>

    init(_ functions: shim_secret, _ limits: KeyringLimits) {
        self.functions = functions
        self.limits = limits
        deadline = .now + limits.reading
        context = functions.g_main_context_new()
        functions.g_main_context_push_thread_default(context)
    }

    /// Handles what is left to be done: GLib frees some things only then.
    deinit {
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

    private func wait(_ start: Start) throws -> OpaquePointer {
        let cancellable = functions.g_cancellable_new()
        defer { functions.g_object_unref(cancellable) }
        let reply = Reply(functions)
        start(
            cancellable,
            { _, result, context in
                guard let context else { return }
                Unmanaged<Reply>.fromOpaque(context).takeRetainedValue().take(result)
            }, Unmanaged.passRetained(reply).toOpaque())
        iterate(until: deadline) { reply.result != nil }
        if reply.result == nil {
            functions.g_cancellable_cancel(cancellable)
            iterate(until: .now + limits.cancelling) { reply.result != nil }
        }
        guard let result = reply.takeResult() else { throw KeyringFailure.noAnswer }
        return result
    }

    private func iterate(until deadline: ContinuousClock.Instant, _ isDone: () -> Bool) {
        while !isDone() {
            let left = deadline - .now
            guard left > .zero else { return }
            // Wakes the iteration; that it is called is all it has to do.
            let timer = functions.g_timeout_source_new(
                UInt32(clamping: left.components.seconds * 1000) + 1
                    + UInt32(clamping: left.components.attoseconds / 1_000_000_000_000_000))
            functions.g_source_set_callback(timer, { _ in 0 }, nil, nil)
            _ = functions.g_source_attach(timer, context)
            _ = functions.g_main_context_iteration(context, 1)
            functions.g_source_destroy(timer)
            functions.g_source_unref(timer)
        }
    }
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
