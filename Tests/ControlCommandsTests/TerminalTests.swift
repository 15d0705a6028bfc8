import TestSupport
import Testing

@testable import ControlCommands

/// Tests of the program on a pseudo-terminal of `script(1)`.
@MainActor @Suite(.privateBus, .fakeService, .timeLimit(.minutes(10))) struct TerminalTests {
    @Test(arguments: [40, 80])
    func `a table fits the terminal`(columns: Int) async throws {
        let screen = try await Terminal("\"$CTL\" feed --all", columns: columns).screen()
        #expect(screen.contains("\u{1B}[1mPHOTO\u{1B}[0m"))
        let lines = screen.replacing(#/\x1B\[\d+m/#, with: "").split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("local/") } == 250)
        #expect(lines.allSatisfy { $0.displayWidth <= columns && !$0.contains("\u{1B}") })
    }

    @Test(arguments: ["NO_COLOR=1", "TERM=dumb"])
    func `NO_COLOR and TERM=dumb disable colours`(setting: String) async throws {
        let screen = try await Terminal("env \(setting) \"$CTL\" status").screen(status: nil)
        #expect(screen.contains("Image Feed 1.2.3, online\n"))
        #expect(!screen.contains("\u{1B}"))
    }

    @Test func `the confirmation of logout and remove counts pending likes`() async throws {
        service.account.pending = ["1", "2"]
        for (command, action) in [
            ("logout", "Log out of Ada[2J"), ("remove local", "Remove Ada[2J (local_ada)"),
        ] {
            let screen = try await Terminal("\"$CTL\" \(command)", input: "n\n")
                .screen(status: 1)
            let question = "\(action) and discard 2 likes that have not been sent yet? [y/N] "
            #expect(screen.contains(question))
        }
        #expect(service.account.calls.value == [])
    }

    @Test(arguments: [("y\n", Int32(0), ["Logout"]), ("n\n", 1, []), ("\n", 1, [])])
    func `logout asks the user`(input: String, status: Int32, calls: [String]) async throws {
        let screen = try await Terminal("\"$CTL\" logout", input: input).screen(status: status)
        #expect(screen.contains("Log out of Ada[2J? [y/N] "))
        #expect(service.account.calls.value == calls)
    }
}
