import Contract
import DBus
import Testing

@testable import ControlCommands

struct CommandFailureTests {
    @Test(arguments: [
        (ServiceError.needsLogin, ProgramStatus.needsLogin), (.notConfigured, .notConfigured),
        (.offline, .tryLater), (.rateLimited, .tryLater), (.secretStoreLocked, .tryLater),
        (.notFound, .failed), (.wrongPassword, .failed), (.cancelled, .failed),
    ])
    func `each daemon error has its exit status`(error: ServiceError, status: ProgramStatus) {
        let failure = CommandFailure(BusError.reply(ErrorReply(error.name, "It is so")))
        #expect(failure.status == status)
        #expect(failure.message.hasPrefix("It is so."))
    }

    @Test(arguments: [
        (
            ServiceError.noSuchUser, "There is no user a; register the name first.",
            "There is no user a. To create a user, add --register."
        ),
        (.offline, "It is down; check the address.", "It is down; check the address."),
        (.offline, "It is down.", "It is down. Try again when the network is back."),
        (.secretStoreLocked, "It is locked: unlock it.", "It is locked: unlock it."),
        (.serviceFailed, "It failed; try again later.", "It failed; try again later."),
    ])
    func `a remedy is not said twice`(error: ServiceError, message: String, shown: String) {
        #expect(CommandFailure(.reply(ErrorReply(error.name, message))).message == shown)
    }

    @Test(arguments: [
        "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NoReply",
        "org.freedesktop.DBus.Error.Spawn.ChildExited", "org.freedesktop.DBus.Error.TimedOut",
        "org.freedesktop.systemd1.NoSuchUnit",
    ])
    func `an unreachable daemon has the status unavailable`(name: String) throws {
        let reply = ErrorReply(try ErrorName(name), "x")
        #expect(CommandFailure(BusError.reply(reply)).status == .unavailable)
    }

    @Test func `other bus errors have an exit status`() {
        #expect(CommandFailure(.reply(ErrorReply(.invalidArgs, "x"))).status == .usage)
        #expect(CommandFailure(.reply(ErrorReply(.failed, "x"))).status == .failed)
        #expect(CommandFailure(.noBus("x")).status == .unavailable)
        #expect(CommandFailure(.disconnected).status == .unavailable)
    }

    @Test(arguments: [
        ("https://a/?redirect_uri=urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob&x=1", true),
        ("https://a/?redirect_uri=urn:ietf:wg:oauth:2.0:oob", true),
        ("https://a/?redirect_uri=http%3A%2F%2F127.0.0.1%3A43117", false),
    ])
    func `a login that shows a code is recognized by its URL`(address: String, isOutOfBand: Bool) {
        #expect(LoginDialogue.isOutOfBand(address) == isOutOfBand)
    }
}
