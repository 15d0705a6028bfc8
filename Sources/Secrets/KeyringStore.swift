internal import CSecret
internal import Dispatch
package import ProviderKit
internal import Synchronization

/// Secrets in the keyring of the desktop: whatever serves the freedesktop Secret Service.
///
/// The work is done on a queue of its own, one call after the other. KeePassXC grants access to items per bus
/// connection, so the connection can be kept (``keepConnection(_:)``); it has no subscriptions between calls, so
/// nothing wakes the process. Each call opens its own session. libsecret is loaded by the first call.
package final class KeyringStore: SecretStore {
    private let limits: KeyringLimits
    private let libraryName: String
    private let queue = DispatchQueue(label: "org.imagefeed.secrets")
    // Touched on `queue` alone.
    nonisolated(unsafe) private var library: SecretLibrary?
    nonisolated(unsafe) private var isConnectionKept = false
    /// The connection between calls, if it is kept.
    nonisolated(unsafe) private var bus: Held?
    /// True while a call may show a prompt, which may take long.
    private let isPrompting = Mutex(false)

    package init(
        limits: KeyringLimits = KeyringLimits(), libraryName: String = "libsecret-1.so.0"
    ) {
        self.limits = limits
        self.libraryName = libraryName
    }

    package func keepConnection(_ isNeeded: Bool) {
        queue.async { [self] in
            isConnectionKept = isNeeded
            if !isNeeded { bus = nil }
        }
    }

    package func store(_ secret: Secret, for key: SecretKey, label: String) async throws {
        try failIfPrompting()
        try await run { keyring in try keyring.store(secret, key, label: label) }
    }

    package func lookUp(_ key: SecretKey, unlocking: Bool) async throws -> Secret? {
        guard unlocking else {
            try failIfPrompting()
            return try await run { keyring in
                try keyring.checkSearch()
                if let secret = try keyring.lookUp(key) { return secret }
                if let obstacle = try keyring.obstacle(key) { throw obstacle }
                return nil
            }
        }
        return try await prompting { keyring in
            if case .success = Result(catching: keyring.checkSearch),
                let secret = try keyring.lookUp(key)
            {
                return secret
            }
            try keyring.makeReady([key], isForStoring: false)
            if let secret = try keyring.lookUp(key) { return secret }
            guard try keyring.obstacle(key) == nil else { throw SecretStoreError.promptDismissed }
            return nil
        }
    }

    package func delete(_ key: SecretKey) async throws {
        try failIfPrompting()
        try await prompting { keyring in try keyring.deleteAll(key) }
    }

    package func unlock(_ keys: [SecretKey], isForStoring: Bool) async throws {
        try await prompting { keyring in
            try keyring.makeReady(keys, isForStoring: isForStoring)
        }
    }

    // MARK: The queue

    /// Runs `body` with a keyring, and once more if that disappeared meanwhile.
    ///
    /// - Parameters:
    ///   - cancellation: Ends the calls of the keyring early.
    ///   - body: Runs on the queue.
    /// - Returns: The result of `body`.
    /// - Throws: ``SecretStoreError``.
    private func run<Value: Sendable>(
        _ cancellation: CallCancellation = CallCancellation(),
        _ body: @escaping @Sendable (Keyring) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(
                    with: Result {
                        do {
                            guard !cancellation.isCancelled else {
                                throw SecretStoreError.cancelled
                            }
                            do {
                                return try attempt(cancellation, body)
                            } catch KeyringFailure.vanished {
                                return try attempt(cancellation, body)
                            }
                        } catch let failure as KeyringFailure {
                            throw cancellation.isCancelled ? .cancelled : failure.storeError
                        }
                    })
            }
        }
    }

    private func attempt<Value>(
        _ cancellation: CallCancellation, _ body: (Keyring) throws -> Value
    ) throws -> Value {
        let library = try loadedLibrary()
        if let bus, library.functions.g_dbus_connection_is_closed(bus.pointer) != 0 {
            self.bus = nil
        }
        let keyring = try Keyring(library, limits, cancellation)
        if isConnectionKept { bus = keyring.bus }
        return try body(keyring)
    }

    private func loadedLibrary() throws -> SecretLibrary {
        if let library { return library }
        keepMemoryPrivate()
        let library = try SecretLibrary(libraryName)
        self.library = library
        return library
    }

    // MARK: Prompts

    /// What does not prompt does not wait for a prompt either: there is one because something is locked.
    private func failIfPrompting() throws {
        if isPrompting.withLock({ $0 }) { throw SecretStoreError.keyringLocked }
    }

    /// Runs `body`, which may prompt. The prompt ends with the task of the caller.
    private func prompting<Value: Sendable>(
        _ body: @escaping @Sendable (Keyring) throws -> Value
    ) async throws -> Value {
        let cancellation = CallCancellation()
        return try await withTaskCancellationHandler {
            try await run(cancellation) { [self] keyring in
                keyring.promptChanged = { [self] isShown in isPrompting.withLock { $0 = isShown } }
                return try body(keyring)
            }
        } onCancel: {
            cancellation.cancel()
        }
    }
}
