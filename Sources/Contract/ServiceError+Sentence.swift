package import DBus
internal import Translation

extension ServiceError {
    /// The error as it is shown: the details, which are in English, after a sentence in the language of the user.
    ///
    /// - Parameter details: The message of the reply.
    /// - Returns: The details alone for a user of English.
    package func explanation(details: String) -> String {
        isTextTranslated ? "\(sentence) (\(details))" : details
    }

    private var sentence: String {
        switch self {
        case .notConfigured: tr("The provider is not configured.")
        case .needsLogin: tr("A login is required.")
        case .loginDenied: tr("The login was denied.")
        case .loginFailed: tr("The login failed.")
        case .loginTimedOut: tr("The login was not completed in time.")
        case .cancelled: tr("The request was cancelled.")
        case .noSuchUser: tr("There is no user with this name.")
        case .userExists: tr("A user with this name exists already.")
        case .wrongPassword: tr("The password is wrong.")
        case .alreadyLoggedIn: tr("The user is logged in already.")
        case .notFound: tr("It was not found.")
        case .staleCursor: tr("The list of photos has changed.")
        case .notSupported: tr("The service does not offer this.")
        case .rateLimited: tr("The service permits no more requests at the moment.")
        case .offline: tr("The service cannot be reached.")
        case .serviceFailed: tr("The service reported an error.")
        case .secretStoreUnavailable: tr("There is no keyring.")
        case .secretStoreLocked: tr("The keyring is locked.")
        case .storageFull: tr("The disk is full.")
        case .storageFailed: tr("The data cannot be stored.")
        case .tooLarge: tr("It is too large.")
        }
    }
}

extension ErrorName {
    /// True for errors of the bus or of systemd: the daemon cannot be started, has ended or does not reply.
    package var isUnreachable: Bool {
        let standard = "org.freedesktop.DBus.Error."
        let names = ["NoReply", "Timeout", "TimedOut", "Disconnected", "AccessDenied"]
        return self == .serviceUnknown || self == .nameHasNoOwner
            || text.hasPrefix(standard + "Spawn.")
            || names.contains { text == standard + $0 }
            // If systemd starts the service for the bus, the errors have the names of systemd.
            || text.hasPrefix("org.freedesktop.systemd1.")
    }
}
