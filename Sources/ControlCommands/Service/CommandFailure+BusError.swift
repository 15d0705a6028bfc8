internal import Contract
internal import DBus
internal import Translation

extension CommandFailure {
    /// Translates an error of D-Bus or of the daemon into an exit status and a message.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - advice: The hint after an error of the daemon. The default is the hint for its error name.
    init(_ error: BusError, advice: String? = nil) {
        guard case .reply(let reply) = error else {
            switch error {
            case .noBus:
                let advice = Translation.tr(
                    "Run this in a desktop session or with dbus-run-session.")
                self.init(.unavailable, error.explanation(), advice)
            case .disconnected: self.init(.unavailable, error.explanation())
            case .invalidName: self.init(.usage, error.explanation())
            default: self.init(.failed, error.explanation())
            }
            return
        }
        if let kind = ServiceError(reply.name) {
            // The message of an unreachable service names what to check.
            let known = kind == .offline && reply.message.contains("; ") ? nil : kind.advice
            let advice = advice ?? known
            self.init(kind.exitStatus, error.explanation(hasAdvice: advice != nil), advice)
        } else if reply.name.isUnreachable {
            self.init(.unavailable, error.explanation(), reply.name.unreachableAdvice)
        } else {
            self.init(reply.name == .invalidArgs ? .usage : .failed, error.explanation())
        }
    }
}

extension BusError {
    /// Returns true if the daemon replied with this error.
    func isReply(_ error: ServiceError) -> Bool {
        if case .reply(let reply) = self { ServiceError(reply.name) == error } else { false }
    }
}

extension ServiceError {
    fileprivate var exitStatus: ProgramStatus {
        switch self {
        case .notConfigured: .notConfigured
        case .needsLogin: .needsLogin
        case .offline, .rateLimited, .secretStoreLocked: .tryLater
        default: .failed
        }
    }

    /// The hint for users of the command line, which the daemon's message does not contain.
    fileprivate var advice: String? {
        switch self {
        case .needsLogin: tr("Log in with “imagefeedctl login PROVIDER”.")
        case .noSuchUser: tr("To create a user, add --register.")
        case .userExists: tr("To log in, omit --register.")
        case .staleCursor: tr("List the photos again without --cursor.")
        case .offline: tr("Try again when the network is back.")
        case .rateLimited: tr("“imagefeedctl status” shows the time of the next retry.")
        default: nil
        }
    }
}
