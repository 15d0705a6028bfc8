internal import CLinux
internal import CSecret
internal import Dispatch
internal import Glibc
internal import Synchronization
internal import System
internal import Translation
package import Web

/// A secret store in the desktop's keyring: any implementation of the freedesktop Secret Service.
///
/// Calls run on their own serial queue. KeePassXC grants access to items per bus connection, so the connection can be
/// retained (``keepConnection(_:)``). It has no subscriptions between calls, so it does not wake the process. Each call
/// opens its own session. The first call loads libsecret.
package final class KeyringStore: SecretStore {
    private let limits: KeyringLimits
    private let libraryName: String
    private let queue = DispatchQueue(label: "org.imagefeed.secrets")
    // The following properties are accessed only on `queue`.
    nonisolated(unsafe) private var library: shim_secret?
    nonisolated(unsafe) private var retainsConnection = false
    /// The connection between calls, if it is retained.
    nonisolated(unsafe) private var bus: GObjectReference?
    /// True while a call may show a prompt, which may take minutes.
    private let isPrompting = Mutex(false)

    /// - Parameters:
    ///   - limits: The time limits of the calls.
    ///   - libraryName: The name of libsecret for the dynamic loader.
    package init(
        limits: KeyringLimits = KeyringLimits(), libraryName: String = "libsecret-1.so.0"
    ) {
        self.limits = limits
        self.libraryName = libraryName
    }

    package func keepConnection(_ isNeeded: Bool) {
        queue.async { [self] in
            retainsConnection = isNeeded
            if !isNeeded { bus = nil }
        }
    }

    package func store(_ secret: Secret, for key: SecretKey, label: String) async throws {
        try failIfPrompting()
        try await run { keyring in try keyring.store(secret, key, label: label) }
    }

    package func lookUp(_ key: SecretKey) async throws -> Secret? {
        try failIfPrompting()
        return try await run { keyring in
            try keyring.checkSearch()
            if let secret = try keyring.lookUp(key) { return secret }
            if let obstacle = try keyring.obstacle(key) { throw obstacle }
            return nil
        }
    }

    package func delete(_ key: SecretKey) async throws {
        try failIfPrompting()
        try await prompting { keyring in try keyring.deleteAll(key) }
    }

    package func unlock(_ keys: [SecretKey], isForStoring: Bool) async throws {
        try await prompting { keyring in
            try keyring.ensureUnlocked(keys, isForStoring: isForStoring)
        }
    }

    // MARK: Queue

    /// Runs `body` with a keyring, and a second time if the keyring disconnects during the call.
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
        try await queue.run { [self] () throws -> Value in
            do {
                guard !cancellation.isCancelled else { throw SecretStoreError.cancelled }
                do {
                    return try attempt(cancellation, body)
                } catch KeyringFailure.disconnected {
                    return try attempt(cancellation, body)
                }
            } catch let failure as KeyringFailure {
                throw cancellation.isCancelled ? SecretStoreError.cancelled : failure.storeError
            }
        }
    }

    private func attempt<Value>(
        _ cancellation: CallCancellation, _ body: (Keyring) throws -> Value
    ) throws -> Value {
        let library = try loadedLibrary()
        if let bus, library.g_dbus_connection_is_closed(bus.pointer) != 0 {
            self.bus = nil
        }
        let keyring = try Keyring(library, limits, cancellation)
        if retainsConnection { bus = keyring.bus }
        return try body(keyring)
    }

    private func loadedLibrary() throws -> shim_secret {
        if let library { return library }
        protectMemory()
        let library = try shim_secret(library: libraryName)
        self.library = library
        return library
    }

    // MARK: Prompts

    /// Throws if a prompt is shown. Calls that do not prompt fail instead of waiting for the prompt of a locked
    /// keyring.
    private func failIfPrompting() throws {
        if isPrompting.withLock({ $0 }) { throw SecretStoreError.keyringLocked }
    }

    /// Runs `body`, which may prompt. Cancelling the caller's task ends the prompt.
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

/// The functions of libsecret, which is loaded on first use and never unloaded, and those of GLib that are used with
/// them.
extension shim_secret {
    /// - Parameter name: The name for the dynamic loader.
    /// - Throws: ``SecretStoreError/unavailable(_:)``.
    init(library name: String) throws(SecretStoreError) {
        self.init()
        if let reason = shim_secret_load(&self, name) {
            throw .unavailable(
                Message(
                    "libsecret is required for the keyring: install the package libsecret-1-0 or libsecret ({reason}).",
                    ["reason": String(cString: reason)]))
        }
        // A warning must not end the daemon, even if G_DEBUG requests it.
        _ = self.g_log_set_always_fatal(G_LOG_LEVEL_ERROR)
    }
}

/// Protects the memory of this process, which contains secrets from now on, from core dumps and from debuggers of the
/// same user.
///
/// The core limit is one byte, not zero: only a limit of one byte prevents the kernel from passing a dump to a program
/// such as systemd-coredump or apport. Child processes inherit the limit and may raise it.
///
/// Call this with the first secret and not at the start: a process that cannot be dumped cannot be inspected by its own
/// user either, and xdg-desktop-portal rejects such a process because it cannot open `/proc/PID/root`
/// (flatpak/xdg-desktop-portal#785, #1490). A browser is then opened without the portal.
///
/// Source: prctl(2), setrlimit(2), core(5); `fs/coredump.c` of the kernel for the one byte.
///
/// - Returns: True if both restrictions are in force.
@discardableResult
func protectMemory() -> Bool {
    let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return false }
    limit.rlim_cur = min(1, limit.rlim_max)
    return setrlimit(resource, &limit) == 0 && shim_forbid_dumps() == 0
}

/// The time limits of keyring operations.
package struct KeyringLimits: Sendable {
    /// The limit for connecting and reading.
    package var reading = Duration.seconds(5)
    /// The limit for one change. Some keyrings require a confirmation by the user.
    package var writing = Duration.seconds(30)
    /// The limit for a prompt.
    package var prompting = Duration.seconds(120)
    /// The time in which a cancelled call must end before it is abandoned.
    package var cancelling = Duration.seconds(1)

    package init() {}
}
