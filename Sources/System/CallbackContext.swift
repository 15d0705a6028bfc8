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
        _ body: @MainActor (Owner, Argument) -> Result
    ) -> Result? {
        guard let context else { return nil }
        // Nothing is shared: the call runs immediately and on the same thread.
        nonisolated(unsafe) let (owner, argument) = (
            Unmanaged<Owner>.fromOpaque(context).takeUnretainedValue(), argument
        )
        return MainActor.assumeIsolated { body(owner, argument) }
    }
}
