import DBus
import Testing

@testable import Viewer

@MainActor struct ProblemTests {
    @Test(arguments: [
        "org.freedesktop.DBus.Error.ServiceUnknown",
        "org.freedesktop.DBus.Error.Spawn.ChildExited",
        "org.freedesktop.DBus.Error.AccessDenied",
        "org.freedesktop.systemd1.NoSuchUnit",
    ])
    func `an error of the bus or of systemd says that the service is not running`(_ name: String)
        throws
    {
        let problem = Problem(BusError.reply(ErrorReply(try ErrorName(name), "Text of the bus")))
        #expect(problem.sentence.hasPrefix("The Image Feed daemon cannot be reached: "))
    }
}
