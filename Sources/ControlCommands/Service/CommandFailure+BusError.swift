internal import Contract
internal import DBus
internal import Quoting
internal import Translation

extension CommandFailure {
    /// Translates an error of D-Bus or of the daemon into an exit status and a message.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - advice: The hint after an error of the daemon. The default is the hint for its error name.
    init(_ error: BusError, advice: String? = nil) {
        switch error {
        case .noBus(let reason):
            self = .tr(
                """
                There is no session bus: {reason} \
                Run this in a desktop session or with dbus-run-session.
                """, ["reason": reason.sentence], status: .unavailable)
        case .disconnected:
            self = .tr("The session bus closed the connection.", status: .unavailable)
        case .reply(let reply): self.init(reply, advice)
        case .invalidName(_, let text):
            self = .tr("“{name}” is not a valid D-Bus name.", ["name": text], status: .usage)
        case .invalidValue(let reason):
            self = .tr("The daemon sent an invalid reply: {reason}", ["reason": reason.sentence])
        case .tooLarge: self = .tr("The message is larger than D-Bus allows.")
        }
    }

    private init(_ reply: ErrorReply, _ advice: String?) {
        let message = reply.message.sentence
        if let error = ServiceError(reply.name) {
            // The message of an unreachable service names what to check.
            let known = error == .offline && message.contains("; ") ? nil : error.advice
            let advice = advice ?? known
            self.init(
                error.exitStatus,
                error.explanation(details: advice == nil ? message : message.withoutRemedy), advice)
        } else if reply.name.isUnreachable {
            let reason = Translation.tr(
                "The Image Feed daemon cannot be reached: {reason}", ["reason": message])
            self.init(.unavailable, reason, Self.unreachableAdvice(reply.name))
        } else {
            self.init(reply.name == .invalidArgs ? .usage : .failed, message)
        }
    }

    private static func unreachableAdvice(_ name: ErrorName) -> String {
        name == .serviceUnknown || name == .nameHasNoOwner
            ? Translation.tr("Install Image Feed, or start imagefeedd in a terminal.")
            : Translation.tr(
                "See “systemctl --user status imagefeedd”, or start imagefeedd in a terminal.")
    }
}

extension String {
    /// A message of the daemon without its remedy, which follows a semicolon, for use with a command that does the same.
    var withoutRemedy: String {
        ranges(of: "; ").last.map { String(self[..<$0.lowerBound]).sentence } ?? self
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
        case .notConfigured: tr("Run “imagefeedctl configure PROVIDER”.")
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
