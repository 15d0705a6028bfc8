internal import CSecret

/// Tells a call loop when a prompt of the keyring has ended.
final class PromptWatch {
    private let bus: Held
    private let functions: shim_secret
    private let subscription: UInt32

    /// - Parameters:
    ///   - bus: The connection that libsecret uses. Held as long as this lives.
    ///   - loop: Has to live longer than this.
    ///   - functions: Those of libsecret.
    init(_ bus: Held, _ loop: CallLoop, _ functions: shim_secret) {
        self.bus = bus
        self.functions = functions
        subscription = functions.g_dbus_connection_signal_subscribe(
            bus.pointer, "org.freedesktop.secrets", "org.freedesktop.Secret.Prompt", "Completed",
            nil, nil, G_DBUS_SIGNAL_FLAGS_NONE,
            { _, _, _, _, _, _, context in
                guard let context else { return }
                Unmanaged<CallLoop>.fromOpaque(context).takeUnretainedValue().notePromptEnd()
            }, Unmanaged.passUnretained(loop).toOpaque(), nil)
    }

    deinit { functions.g_dbus_connection_signal_unsubscribe(bus.pointer, subscription) }
}
