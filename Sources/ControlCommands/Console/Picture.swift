internal import Glibc
internal import System

/// Drawing of photos on the terminal with the program `chafa`.
///
/// Source: `chafa(1)`.
@MainActor
enum Picture {
    /// True if standard output is a terminal that can show drawings, and `chafa` is installed.
    static var canShow: Bool {
        guard case .terminal(_, let isColoured) = OutputTarget.standardOutput else { return false }
        return (isColoured || Console.variable("TERM") != "dumb")
            && Console.variable("PATH").split(separator: ":")
                .contains { access("\($0)/chafa", X_OK) == 0 }
    }

    /// Draws the file at `path` in the best format that the terminal supports.
    ///
    /// If the file cannot be drawn, nothing is shown: the text that follows is complete without it.
    static func show(_ path: String, columns: Int, rows: Int) async {
        let process = try? SpawnedProcess(
            "chafa", options(columns, rows) + ["--", path],
            descriptors: [STDIN_FILENO: Console.nullDevice, STDERR_FILENO: Console.nullDevice])
        _ = await process?.exit()
    }

    /// Returns the lines of the file at `path`, drawn with characters; empty if there is none or it cannot be drawn.
    static func lines(_ path: String?, columns: Int, rows: Int) async -> [String] {
        guard let path, let ends = try? PipeEnds() else { return [] }
        let (output, input) = (ends.takeReading(), ends.takeWriting())
        let process = try? SpawnedProcess(
            "chafa", options(columns, rows) + ["--format", "symbols", "--", path],
            descriptors: [
                STDIN_FILENO: Console.nullDevice, STDOUT_FILENO: input,
                STDERR_FILENO: Console.nullDevice,
            ])
        close(input)
        var lines: [String] = []
        try? await readLines(of: output) { lines.append(String(decoding: $0, as: UTF8.self)) }
        return await process?.exit() == .code(0) ? lines.filter { !$0.isEmpty } : []
    }

    private static func options(_ columns: Int, _ rows: Int) -> [String] {
        var options = ["--size", "\(columns)x\(rows)", "--animate", "off", "--polite", "on"]
        if case .terminal(_, isColoured: false) = OutputTarget.standardOutput {
            options += ["--colors", "none"]
        }
        return options
    }
}
