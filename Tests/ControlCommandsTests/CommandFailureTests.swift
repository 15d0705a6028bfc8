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

    @Test(
        arguments: [
            (
                BusError.reply(ErrorReply("org.freedesktop.DBus.Error.ServiceUnknown", "x")),
                .unavailable
            ),
            (.reply(ErrorReply("org.freedesktop.DBus.Error.NoReply", "x")), .unavailable),
            (.reply(ErrorReply("org.freedesktop.DBus.Error.Spawn.ChildExited", "x")), .unavailable),
            (.reply(ErrorReply("org.freedesktop.DBus.Error.TimedOut", "x")), .unavailable),
            (.reply(ErrorReply("org.freedesktop.systemd1.NoSuchUnit", "x")), .unavailable),
            (.reply(ErrorReply(.invalidArgs, "x")), .usage),
            (.reply(ErrorReply(.failed, "x")), .failed),
            (.noBus("x"), .unavailable), (.disconnected, .unavailable),
        ] as [(BusError, ProgramStatus)])
    func `a bus error has an exit status`(error: BusError, status: ProgramStatus) {
        #expect(CommandFailure(error).status == status)
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
