internal import Glibc
package import LoopbackHTTP
internal import System

/// A program that a test has started, with its output.
///
/// The program is killed when the last reference is released.
package final class ChildProcess: Sendable {
    /// The exit status. Repeats `SpawnedProcess.Exit` for tests that import only this module.
    package enum Exit: Hashable, Sendable {
        case code(Int32)
        case signal(Int32)

        init(_ exit: SpawnedProcess.Exit) {
            self =
                switch exit {
                case .code(let code): .code(code)
                case .signal(let signal): .signal(signal)
                }
        }
    }

    /// The output so far, and whether it is complete.
    package struct Output: Sendable {
        package internal(set) var text = ""
        package internal(set) var isComplete = false
    }

    package let id: Int32
    package let standardOutput = Observed(Output())
    package let standardError = Observed(Output())
    private let exit = Observed<Exit?>(nil)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: The path of the program.
    ///   - arguments: The arguments after the name of the program.
    ///   - environment: The whole environment.
    ///   - input: The standard input.
    /// - Throws: `SpawnError` if the program cannot be started.
    package init(
        _ path: String, _ arguments: [String] = [], environment: [String: String],
        input: String = ""
    ) throws {
        let pipes = try (input: PipeEnds(), output: PipeEnds(), error: PipeEnds())
        let process = try SpawnedProcess(
            path, arguments, environment: environment,
            descriptors: [
                STDIN_FILENO: pipes.input.reading, STDOUT_FILENO: pipes.output.writing,
                STDERR_FILENO: pipes.error.writing,
            ])
        let (output, error) = (pipes.output.takeReading(), pipes.error.takeReading())
        let inputEnd = pipes.input.takeWriting()
        id = process.id
        onThread { [exit] in
            let status = Exit(process.waitForExit())
            exit.update { $0 = status }
        }
        onThread { [standardOutput] in collect(output, into: standardOutput) }
        onThread { [standardError] in collect(error, into: standardError) }
        onThread { feed(Array(input.utf8), to: inputEnd) }
    }

    deinit { kill(SIGKILL) }

    package var isRunning: Bool { exit.value == nil }

    package func terminate() { kill(SIGTERM) }

    /// Sends a signal, unless the program has exited.
    package func kill(_ signal: Int32) {
        // The lock guarantees that the process ID is not reused before the exit is recorded.
        exit.update { if $0 == nil { _ = Glibc.kill(id, signal) } }
    }

    /// Waits for the exit.
    package func exitStatus() async throws -> Exit { try await exit.wait { $0 } }

    /// Kills the program and waits for its exit.
    package func stop() async throws {
        kill(SIGKILL)
        _ = try await exitStatus()
    }

    /// Performs a function, then stops the program, also in a cancelled task.
    @concurrent
    package func stop(after function: @Sendable @concurrent () async throws -> Void) async throws {
        defer { kill(SIGKILL) }
        try await function()
        // In a separate task, because that of the caller may be cancelled.
        try await Task { try await stop() }.value
    }

    /// Waits for the exit and the complete output.
    package func result() async throws -> (exit: Exit, output: String, error: String) {
        let output = try await standardOutput.wait { $0.isComplete ? $0.text : nil }
        let error = try await standardError.wait { $0.isComplete ? $0.text : nil }
        return (try await exitStatus(), output, error)
    }

    /// Waits for the first line of the standard output.
    package func firstLine() async throws -> String {
        try await standardOutput.wait { output in
            guard let end = output.text.firstIndex(of: "\n") else {
                return output.isComplete ? output.text : nil
            }
            return String(output.text[..<end])
        }
    }
}

private func collect(_ descriptor: Int32, into output: Observed<ChildProcess.Output>) {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { break }
        bytes += buffer[..<count]
        let text = String(decoding: bytes, as: UTF8.self)
        output.update { $0.text = text }
    }
    close(descriptor)
    output.update { $0.isComplete = true }
}

private func feed(_ input: [UInt8], to descriptor: Int32) {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &set, nil)
    var rest = input[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { break }
        rest = rest.dropFirst(count)
    }
    close(descriptor)
}
