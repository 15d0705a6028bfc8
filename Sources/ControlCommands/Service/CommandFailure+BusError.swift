internal import BusAPI
internal import DBus
internal import Quoting

extension CommandFailure {
    /// What an error of the bus, or of the daemon, means to a person at a terminal.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - advice: What to type next after one of our errors, if more is known than its name tells.
    init(_ error: BusError, advice: String? = nil) {
        switch error {
        case .noBus(let reason):
            self.init(
                .unavailable,
                "There is no session bus: \(Self.sentence(reason)) Run this in a desktop session, or under dbus-run-session."
            )
        case .disconnected:
            self.init(.unavailable, "The session bus has closed the connection.")
        case .reply(let reply):
            self.init(reply, advice)
        case .invalidName(_, let text):
            self.init(.usage, "“\(text)” cannot be sent over the bus.")
        case .invalidValue(let reason):
            self.init(.failed, "The daemon's answer is not understood: \(Self.sentence(reason))")
        case .tooLarge:
            self.init(.failed, "That is more than the bus can carry.")
        }
    }

    private init(_ reply: ErrorReply, _ advice: String?) {
        let message = Self.sentence(reply.message)
        if let error = ServiceError(reply.name) {
            // The daemon may know the command that helps, and then knows it better.
            let advice = message.contains("imagefeedctl ") ? nil : advice ?? error.advice
            self.init(
                error.exitStatus, [message, advice].compactMap(\.self).joined(separator: " "))
        } else if Self.isUnreachable(reply.name) {
            self.init(
                .unavailable,
                "The Image Feed daemon cannot be reached: \(message) \(Self.unreachableAdvice(reply.name))"
            )
        } else {
            self.init(reply.name == .invalidArgs ? .usage : .failed, message)
        }
    }

    /// Whether the bus says in the daemon's name that it cannot start, has gone or does not answer.
    private static func isUnreachable(_ name: ErrorName) -> Bool {
        let standard = "org.freedesktop.DBus.Error."
        let names = ["NoReply", "Timeout", "TimedOut", "Disconnected", "AccessDenied"]
        return name == .serviceUnknown || name == .nameHasNoOwner
            || name.text.hasPrefix(standard + "Spawn.")
            || names.contains { name.text == standard + $0 }
            // A service that systemd starts for the bus fails under systemd's names.
            || name.text.hasPrefix("org.freedesktop.systemd1.")
    }

    private static func unreachableAdvice(_ name: ErrorName) -> String {
        name == .serviceUnknown || name == .nameHasNoOwner
            ? "Is it installed? Otherwise start imagefeedd yourself."
            : "“systemctl --user status imagefeedd” may tell why, or imagefeedd when you start it yourself."
    }

    /// `text` with a full stop, if it has no end yet.
    static func sentence(_ text: String) -> String {
        text.sentence
    }
}

/// Adds, where there is no such source, where those are that there are.
///
/// - Parameter body: Asks for a source.
/// - Returns: What `body` returns.
/// - Throws: ``CommandFailure`` for a source that there is not; whatever else `body` throws.
@MainActor
func namingSources<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
        return try await body()
    } catch let error as BusError where error.isReply(.notFound) {
        throw CommandFailure(error, advice: "“imagefeedctl sources” lists what there is.")
    }
}

extension BusError {
    /// Whether the daemon answered with this error.
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

    /// What to type next, which the daemon cannot know.
    fileprivate var advice: String? {
        switch self {
        case .notConfigured: "Run “imagefeedctl configure PROVIDER”."
        case .needsLogin: "Log in with “imagefeedctl login PROVIDER”."
        case .noSuchUser: "To create a user, add --register."
        case .userExists: "To log in, leave out --register."
        case .staleCursor: "Begin again without --cursor."
        case .offline: "Try again when the network is back."
        case .rateLimited: "“imagefeedctl status” tells when to try again."
        case .secretStoreLocked: "Unlock the keyring, and try again."
        default: nil
        }
    }
}
