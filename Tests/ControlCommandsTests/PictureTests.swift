import TestSupport
import Testing

@testable import ControlCommands

struct PictureGridTests {
    @Test(arguments: [(40, 1), (80, 2), (120, 4), (10, 1)])
    func `a row contains as many pictures as fit`(columns: Int, perRow: Int) {
        let grid = PictureGrid(columns: columns)
        #expect(grid.perRow == perRow)
        #expect(grid.width * perRow + PictureGrid.gap * (perRow - 1) <= columns)
    }

    @Test func `colours have no width, and wide characters have two columns`() {
        let grid = PictureGrid(columns: 80)
        let text = grid.text([
            (picture: ["\u{1B}[38;5;1mab\u{1B}[0m", "cd"], captions: ["日本", "x/1"]),
            (picture: ["ef"], captions: ["\u{1B}[2Jtitle"]),
        ])
        let space = { String(repeating: " ", count: grid.width + PictureGrid.gap - $0) }
        #expect(
            text == """
                \u{1B}[38;5;1mab\u{1B}[0m\(space(2))ef
                cd
                日本\(space(4))[2Jtitle
                x/1


                """)
    }
}

@MainActor @Suite(.privateBus, .fakeService, .timeLimit(.minutes(10))) struct PictureTests {
    /// Installs a fake `chafa` that prints two lines of crosses and logs its arguments.
    private func installChafa() async throws {
        let folder = try PrivateBus.current.directory
        try await Control.install("chafa", "echo \"$*\" >> \(folder.path)/drawn; echo XX; echo XX")
        try await Control.install("imagefeedctl", "exec '\(Control.path)' \"$@\"")
    }

    private func type(_ line: String) async throws -> String {
        let path = try PrivateBus.current.directory.appending("bin")
        let terminal = try Terminal("env PATH=\(path):/usr/bin:/bin \(line)", columns: 60)
        return try await terminal.screen()
    }

    @Test func `a grid shows photos with their captions`() async throws {
        try await installChafa()
        let screen = try await type("imagefeedctl feed --count 3 --grid")
        #expect(screen.contains("XX" + String(repeating: " ", count: 26) + "XX\n"))
        #expect(screen.contains("local/0"))
        #expect(screen.contains("local/2"))
    }

    @Test func `photo draws the photo above its properties`() async throws {
        try await installChafa()
        let screen = try await type("imagefeedctl photo 7")
        #expect(screen.hasPrefix("XX\nXX\n"))
        #expect(screen.contains("local_ada"))
        #expect(service.account.calls.value == ["GetImage small"])
    }

    @Test func `--grid prints a list without chafa and in a pipe`() async throws {
        let line = "env PATH=/nonexistent \"$CTL\" feed --count 3 --grid"
        let screen = try await Terminal(line).screen(status: nil)
        #expect(screen.contains("install chafa"))
        #expect(screen.contains("PHOTO"))
        let result = try await Control.run(["feed", "--count", "3", "--grid"])
        #expect(result.error == "")
        #expect(result.output.split(separator: "\n").count == 3)
        #expect(service.account.calls.value == [])
    }
}
