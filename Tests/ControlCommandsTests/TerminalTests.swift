import BusAPI
import TestSupport
import Testing

@testable import ControlCommands

/// The program with a terminal in front of it, which `script(1)` makes.
@MainActor
@Suite(.privateBus, .timeLimit(.minutes(1)))
struct TerminalTests {
    /// What appears on a terminal of `columns`, and the exit status.
    private func type(
        _ command: String, columns: Int = 80, input: String = ""
    ) async throws -> (exit: ChildProcess.Exit, screen: String) {
        var environment = try PrivateBus.current.environment
        environment["CTL"] = Control.path
        environment["TERM"] = "xterm"
        environment["SHELL"] = "/bin/sh"
        let line = "stty cols \(columns); exec \(command)"
        let script = try ChildProcess(
            "/usr/bin/script", ["-qec", line, "/dev/null"], environment: environment, input: input)
        let result = try await script.result()
        return (result.exit, result.output.replacing("\r\n", with: "\n"))
    }

    @Test(arguments: [40, 80])
    func `a table fits the terminal`(columns: Int) async throws {
        try await FakeService.run { _ in
            let (exit, screen) = try await type("\"$CTL\" feed --all", columns: columns)
            #expect(exit == .code(0))
            #expect(screen.contains("\u{1B}[1mPHOTO\u{1B}[0m"))
            let lines = screen.replacing(#/\x1B\[\d+m/#, with: "").split(separator: "\n")
            #expect(lines.count { $0.hasPrefix("local_ada/") } == 250)
            #expect(lines.allSatisfy { $0.displayWidth <= columns && !$0.contains("\u{1B}") })
        }
    }

    @Test(arguments: ["NO_COLOR=1", "TERM=dumb"])
    func `colours can be switched off`(setting: String) async throws {
        try await FakeService.run { _ in
            let (_, screen) = try await type("env \(setting) \"$CTL\" status")
            #expect(screen.contains("Image Feed 1.2.3, online\n"))
            #expect(!screen.contains("\u{1B}"))
        }
    }

    @Test func `the question before logging out counts what is not sent`() async throws {
        try await FakeService.run { service in
            service.account.pending = ["1", "2"]
            for (command, deed) in [
                ("logout", "Log out of Ada[2J"), ("remove local", "Remove Ada[2J (local_ada)"),
            ] {
                let (exit, screen) = try await type("\"$CTL\" \(command)", input: "n\n")
                #expect(exit == .code(1))
                #expect(screen.contains("\(deed) and drop 2 likes that are not sent yet? [y/N] "))
            }
            #expect(service.account.calls.value == [])
        }
    }

    @Test(arguments: [("y\n", Int32(0), ["Logout"]), ("n\n", 1, []), ("\n", 1, [])])
    func `logging out asks`(input: String, status: Int32, calls: [String]) async throws {
        try await FakeService.run { service in
            let (exit, screen) = try await type("\"$CTL\" logout", input: input)
            #expect(exit == .code(status))
            #expect(screen.contains("Log out of Ada[2J? [y/N] "))
            #expect(service.account.calls.value == calls)
        }
    }
}
