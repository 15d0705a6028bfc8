internal import Dispatch
internal import Glibc
internal import System

/// Photos on a terminal, as `chafa` draws them where it is installed.
///
/// Source: `chafa(1)`.
@MainActor
enum Picture {
    /// Whether the terminal of standard output can show anything at all, and there is a program for it.
    static var canShow: Bool {
        guard case .terminal(_, let isColoured) = OutputTarget.standardOutput else { return false }
        let term = getenv("TERM").map { String(cString: $0) } ?? ""
        return (isColoured || term != "dumb") && isInstalled
    }

    /// Whether `chafa` is in our `PATH`.
    static var isInstalled: Bool {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return path.split(separator: ":").contains { access("\($0)/chafa", X_OK) == 0 }
    }

    /// Draws the file at `path` in the best way that the terminal knows.
    ///
    /// What cannot be drawn is passed over: the words that follow do without.
    static func show(_ path: String, columns: Int, rows: Int) async {
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        let process = try? SpawnedProcess(
            "chafa", options(columns, rows) + ["--", path],
            descriptors: [STDIN_FILENO: nothing, STDERR_FILENO: nothing])
        _ = await process?.exit()
    }

    /// The file at `path` drawn with characters, a line each; empty when it cannot be drawn.
    static func lines(_ path: String, columns: Int, rows: Int) async -> [String] {
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return [] }
        let (output, input) = (ends[0], ends[1])
        _ = fcntl(output, F_SETFD, FD_CLOEXEC)
        _ = fcntl(input, F_SETFD, FD_CLOEXEC)
        let process = try? SpawnedProcess(
            "chafa", options(columns, rows) + ["--format", "symbols", "--", path],
            descriptors: [STDIN_FILENO: nothing, STDOUT_FILENO: input, STDERR_FILENO: nothing])
        close(input)
        let text: String = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: read(output)) }
        }
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

    /// Reads to the end, and closes.
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
