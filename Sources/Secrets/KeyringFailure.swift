internal import CSecret
internal import Translation
internal import Web

/// An error of GLib or of the keyring.
enum KeyringFailure: Error, Hashable {
    case noKeyring
    case noBus(String)
    case noReply
    /// The keyring disconnected during the call. A second attempt may reach another keyring.
    case disconnected
    case locked
    case refused(String)

    init(_ error: UnsafeMutablePointer<GError>, _ functions: shim_secret) {
        _ = functions.g_dbus_error_strip_remote_error(error)
        let message = error.pointee.message.map { String(cString: $0) } ?? ""
        let code = error.pointee.code
        switch error.pointee.domain {
        case functions.g_dbus_error_quark(): self.init(bus: code, message)
        case functions.secret_error_get_quark():
            self = code == Int32(SHIM_SECRET_ERROR_IS_LOCKED) ? .locked : .refused(message)
        case functions.g_io_error_quark():
            switch UInt32(clamping: code) {
            case G_IO_ERROR_CANCELLED.rawValue, G_IO_ERROR_TIMED_OUT.rawValue: self = .noReply
            case G_IO_ERROR_CLOSED.rawValue: self = .disconnected
            default: self = .refused(message)
            }
        default: self = .refused(message)
        }
    }

    private init(bus code: Int32, _ message: String) {
        switch UInt32(clamping: code) {
        case G_DBUS_ERROR_SERVICE_UNKNOWN.rawValue, G_DBUS_ERROR_NAME_HAS_NO_OWNER.rawValue,
            G_DBUS_ERROR_SPAWN_EXEC_FAILED.rawValue...G_DBUS_ERROR_SPAWN_NO_MEMORY.rawValue:
            self = .noKeyring
        case G_DBUS_ERROR_NO_REPLY.rawValue, G_DBUS_ERROR_DISCONNECTED.rawValue:
            self = .disconnected
        case G_DBUS_ERROR_TIMEOUT.rawValue, G_DBUS_ERROR_TIMED_OUT.rawValue: self = .noReply
        default: self = .refused(message)
        }
    }

    /// The error for clients and users.
    var storeError: SecretStoreError {
        switch self {
        case .noKeyring:
            .unavailable(
                Message("There is no keyring: install gnome-keyring, KeePassXC or KWallet."))
        case .noBus(let reason):
            .unavailable(Message("The keyring cannot be reached: {reason}.", ["reason": reason]))
        case .noReply, .disconnected:
            .unavailable(Message("The keyring does not respond; open or restart its program."))
        case .locked: .keyringLocked
        case .refused(let reason):
            .failed(Message("The keyring reported an error: {reason}", ["reason": reason]))
        }
    }
}

extension SecretStoreError {
    static let keyringLocked = SecretStoreError.locked(
        Message("The keyring is locked: unlock it, for example by logging in to a service again."))
    static let promptDismissed = SecretStoreError.dismissed(
        Message(
            "The keyring is still locked because its prompt was dismissed; unlock it and try again."
        ))
    static let itemLocked = SecretStoreError.locked(
        Message(
            "The keyring has not granted access to the secret; refresh the account to be prompted for it."
        )
    )
    static let accessDenied = SecretStoreError.denied(
        Message(
            "The keyring denied access to the secret; allow it in the keyring's program, or restart that program."
        )
    )
    static let deletionDismissed = SecretStoreError.dismissed(
        Message("The keyring still contains the secret because its deletion was not confirmed."))
    static let cancelled = SecretStoreError.dismissed(Message("The call was cancelled."))
    static let noDefaultKeyring = SecretStoreError.unavailable(
        Message(
            "There is no default keyring: share a database in KeePassXC, or create a keyring by logging in to a service again."
        ))
}
