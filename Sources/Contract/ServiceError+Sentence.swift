package import DBus
internal import Quoting
internal import Translation

extension BusError {
    /// Returns the error as it is shown.
    ///
    /// - Parameter hasAdvice: True if advice of the program follows, in place of the remedy in the daemon's message.
    /// - Returns: One or two sentences.
    package func explanation(hasAdvice: Bool = false) -> String {
        switch self {
        case .noBus(let reason):
            return tr("There is no session bus: {reason}", ["reason": reason.sentence])
        case .disconnected: return tr("The session bus closed the connection.")
        case .invalidName(_, let text):
            return tr("“{name}” is not a valid D-Bus name.", ["name": text])
        case .invalidValue(let reason):
            return tr("The daemon sent an invalid reply: {reason}", ["reason": reason.sentence])
        case .tooLarge: return tr("The message is larger than D-Bus allows.")
        case .reply(let reply):
            let message = reply.message.sentence
            if let error = ServiceError(reply.name) {
                return error.explanation(details: hasAdvice ? message.withoutRemedy : message)
            }
            if reply.name.isUnreachable {
                return tr("The Image Feed daemon cannot be reached: {reason}", ["reason": message])
            }
            if [.unknownObject, .unknownInterface, .unknownMethod].contains(reply.name) {
                return tr(
                    "The running Image Feed service does not offer this. Log in to an account, or restart the service."
                )
            }
            guard reply.name == .invalidArgs, isTextTranslated else { return message }
            let sentence = tr("An argument is not valid.")
            return "\(sentence) (\(message))"
        }
    }

    /// The error as a window shows it: if the daemon cannot be reached, with advice in place of the message of the bus.
    package var windowExplanation: String {
        guard case .reply(let reply) = self, reply.name.isUnreachable else { return explanation() }
        let sentence = tr("The Image Feed daemon cannot be reached.")
        return "\(sentence) \(reply.name.unreachableAdvice)"
    }
}

extension String {
    /// A message of the daemon without its remedy, which follows a semicolon, for use with a command that does the same.
    package var withoutRemedy: String {
        ranges(of: "; ").last.map { String(self[..<$0.lowerBound]).sentence } ?? self
    }
}

extension ServiceError {
    /// The error as it is shown: the details, which are in English, after a sentence in the language of the user.
    ///
    /// - Parameter details: The message of the reply.
    /// - Returns: The details alone for a user of English.
    fileprivate func explanation(details: String) -> String {
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
        case .rateLimited: tr("No more requests are permitted at the moment.")
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

    /// The remedy if the daemon is unreachable.
    package var unreachableAdvice: String {
        self == .serviceUnknown || self == .nameHasNoOwner
            ? tr("Install Image Feed, or start imagefeedd in a terminal.")
            : tr("See “systemctl --user status imagefeedd”, or start imagefeedd in a terminal.")
    }
}
