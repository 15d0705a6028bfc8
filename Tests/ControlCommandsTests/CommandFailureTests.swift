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
