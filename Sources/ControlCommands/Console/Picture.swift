internal import Dispatch
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
        let text = await DispatchQueue.global().run { read(output) }
        guard await process?.exit() == .code(0) else { return [] }
        return text.split(separator: "\n").map(String.init)
    }

    private static func options(_ columns: Int, _ rows: Int) -> [String] {
        var options = ["--size", "\(columns)x\(rows)", "--animate", "off", "--polite", "on"]
        if case .terminal(_, isColoured: false) = OutputTarget.standardOutput {
            options += ["--colors", "none"]
        }
        return options
    }

    /// Reads a descriptor to its end and closes it.
    nonisolated private static func read(_ descriptor: Int32) -> String {
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
