internal import CSecret

/// A watch that reports the end of keyring prompts to a call loop.
final class PromptWatch {
    private let bus: GObjectReference
    private let functions: shim_secret
    private let subscription: UInt32

    /// - Parameters:
    ///   - bus: The connection that libsecret uses. It is retained.
    ///   - loop: The call loop, which must outlive this object.
    ///   - functions: The functions of libsecret.
    init(_ bus: GObjectReference, _ loop: CallLoop, _ functions: shim_secret) {
        self.bus = bus
        self.functions = functions
        subscription = functions.g_dbus_connection_signal_subscribe(
            bus.pointer, "org.freedesktop.secrets", "org.freedesktop.Secret.Prompt", "Completed",
            nil, nil, G_DBUS_SIGNAL_FLAGS_NONE,
            { _, _, _, _, _, _, context in
                guard let context else { return }
                Unmanaged<CallLoop>.fromOpaque(context).takeUnretainedValue().recordPromptEnd()
            }, Unmanaged.passUnretained(loop).toOpaque(), nil)
    }

    deinit { functions.g_dbus_connection_signal_unsubscribe(bus.pointer, subscription) }
}
