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
    func `an unreachable daemon has a remedy in place of the message of the bus`(
        _ name: String
    ) throws {
        let problem = Problem(BusError.reply(ErrorReply(try ErrorName(name), "Text of the bus")))
        #expect(problem.sentence.hasPrefix("The Image Feed daemon cannot be reached. "))
        #expect(problem.sentence.hasSuffix("start imagefeedd in a terminal."))
        #expect(!problem.sentence.contains("Text of the bus"))
    }
}
