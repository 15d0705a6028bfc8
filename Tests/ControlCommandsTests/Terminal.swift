import Glibc
import TestSupport
import Testing

/// A program on a pseudo-terminal of `script(1)`, with simulated keyboard input.
final class Terminal {
    private let process: ChildProcess
    private let keyboard: Int32
    /// The path of the FIFO with the input.
    private let pipe: String

    /// Starts a program for the running test.
    ///
    /// - Parameters:
    ///   - line: A shell command in which `"$CTL"` is the path of `imagefeedctl`.
    ///   - isShell: True if the shell continues after the program.
    ///   - columns: The width of the terminal.
    ///   - settings: Further environment variables.
    ///   - input: The first input.
    /// - Throws: The error of the start.
    init(
        _ line: String, isShell: Bool = false, columns: Int = 80,
        _ settings: [String: String] = [:],
        input: String = ""
    ) throws {
        let bus = try PrivateBus.current
        let terminal = ["CTL": Control.path, "TERM": "xterm", "SHELL": "/bin/sh", "TZ": "UTC"]
        let environment = bus.environment.merging(terminal) { $1 }.merging(settings) { $1 }
        pipe = bus.directory.appending("keyboard")
        try #require(mkfifo(pipe, 0o600) == 0)
        // Opening a FIFO for reading and writing does not wait for the other end.
        keyboard = open(pipe, O_RDWR | O_CLOEXEC)
        let command = "stty cols \(columns); \(isShell ? line : "exec " + line)"
        process = try ChildProcess(
            "/bin/sh", ["-c", "exec script -qec '\(command)' /dev/null < '\(pipe)'"],
            environment: environment)
        type(input)
    }

    deinit {
        close(keyboard)
        unlink(pipe)
    }

    /// Waits until `text` is on the screen or the program ends.
    func wait(for text: String) async throws {
        try await process.standardOutput.wait { $0.text.contains(text) || $0.isComplete ? () : nil }
    }

    /// Waits for a prompt, and types a reply to it.
    func reply(to prompt: String, _ text: String) async throws {
        try await wait(for: prompt)
        type(text)
    }

    /// Runs a program to its end with replies to its prompts, expects its exit status, and returns the screen.
    @discardableResult
    static func screen(
        _ line: String, isShell: Bool = false, replies: KeyValuePairs<String, String>,
        status: Int32? = 0, location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let terminal = try Terminal(line, isShell: isShell)
        for (prompt, text) in replies { try await terminal.reply(to: prompt, text) }
        return try await terminal.screen(status: status, location: location)
    }

    func type(_ text: String) { _ = write(keyboard, text, text.utf8.count) }

    /// Waits for the end of the program, expects its exit status unless that is nil, and returns the screen.
    @discardableResult
    func screen(
        status: Int32? = 0, location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let (exit, output, _) = try await process.result()
        let screen = output.replacing("\r\n", with: "\n")
        if let status { #expect(exit == .code(status), "\(screen)", sourceLocation: location) }
        return screen
    }
}
