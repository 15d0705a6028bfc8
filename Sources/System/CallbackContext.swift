/// The context pointer of C callbacks that run on the main thread.
package enum CallbackContext {
    /// Returns the context pointer of an owner, which must outlive the callbacks.
    package static func pointer(to owner: AnyObject) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(owner).toOpaque()
    }

    /// Enters the main actor from a callback of a C library, which is called on the thread that called the library.
    ///
    /// Inlinable, because libdbus calls back several times for each message.
    ///
    /// - Parameters:
    ///   - context: The result of ``pointer(to:)`` for an `Owner`.
    ///   - argument: The arguments of the callback.
    ///   - body: Called with the owner.
    /// - Returns: The result of `body`; nil if `context` is nil.
    @discardableResult
    @inlinable
    package static func enter<Owner: AnyObject, Argument, Result: Sendable>(
        _ context: UnsafeMutableRawPointer?, _ argument: Argument,
        _ body: @escaping @MainActor (Owner, Argument) -> Result
    ) -> Result? {
        guard let context else { return nil }
        let call = Call(context: context, argument: argument, body: body)
        return MainActor.assumeIsolated {
            call.body(
                Unmanaged<Owner>.fromOpaque(call.context).takeUnretainedValue(), call.argument)
        }
    }

    /// The arguments of a call that runs immediately and on the same thread. Sendable, because nothing is shared.
    @usableFromInline
    struct Call<Owner, Argument, Result>: @unchecked Sendable {
        @usableFromInline let context: UnsafeMutableRawPointer
        @usableFromInline let argument: Argument
        @usableFromInline let body: @MainActor (Owner, Argument) -> Result

        @inlinable
        init(
            context: UnsafeMutableRawPointer, argument: Argument,
            body: @escaping @MainActor (Owner, Argument) -> Result
        ) {
            self.context = context
            self.argument = argument
            self.body = body
        }
    }
}
