internal import CSecret
internal import ProviderKit

/// What GLib or the keyring said.
enum KeyringFailure: Error, Hashable {
    case noKeyring
    case noBus(String)
    case noAnswer
    /// It went away in between. Asked again, another one may answer.
    case vanished
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
            case G_IO_ERROR_CANCELLED.rawValue, G_IO_ERROR_TIMED_OUT.rawValue: self = .noAnswer
            case G_IO_ERROR_CLOSED.rawValue: self = .vanished
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
        case G_DBUS_ERROR_NO_REPLY.rawValue, G_DBUS_ERROR_DISCONNECTED.rawValue: self = .vanished
        case G_DBUS_ERROR_TIMEOUT.rawValue, G_DBUS_ERROR_TIMED_OUT.rawValue: self = .noAnswer
        default: self = .refused(message)
        }
    }

    /// The same in the terms of those who know no GLib.
    var storeError: SecretStoreError {
        switch self {
        case .noKeyring:
            .unavailable("There is no keyring: install gnome-keyring, KeePassXC or KWallet.")
        case .noBus(let reason): .unavailable("The keyring cannot be reached: \(reason).")
        case .noAnswer, .vanished:
            .unavailable("The keyring does not answer: open it, or start it anew.")
        case .locked: .keyringLocked
        case .refused(let reason): .failed("The keyring refused: \(reason)")
        }
    }
}

extension SecretStoreError {
    static let keyringLocked = SecretStoreError.locked(
        "The keyring is locked: unlock it, for example by logging in to a service again.")
    static let promptDismissed = SecretStoreError.dismissed(
        "The keyring stayed locked, since nobody unlocked it when it asked.")
    static let itemLocked = SecretStoreError.locked(
        "The keyring has not granted access to the secret; refresh the account to be asked for it.")
    static let accessDenied = SecretStoreError.denied(
        "The keyring denied access to the secret; allow it in the keyring's program, or start that anew."
    )
    static let deletionDismissed = SecretStoreError.dismissed(
        "The keyring kept the secret, because its deletion was not confirmed.")
    static let cancelled = SecretStoreError.dismissed("The call was cancelled.")
    static let noDefaultKeyring = SecretStoreError.unavailable(
        "There is no default keyring: open a database in KeePassXC that it may share, or make a keyring"
            + " by logging in to a service again.")
}
