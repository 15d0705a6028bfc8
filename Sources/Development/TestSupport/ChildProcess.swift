internal import Glibc
package import LoopbackHTTP
internal import Synchronization
internal import System

/// A program that a test has started, with what it writes.
///
/// Killed, if it still runs, with the last reference.
package final class ChildProcess: Sendable {
    /// How it has ended: `SpawnedProcess.Exit`, for tests that import no more than this module.
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

    /// What it has written so far, and whether there will be more.
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
    ///   - arguments: What follows the name of the program.
    ///   - environment: All of its environment.
    ///   - input: What it reads from its standard input.
    /// - Throws: `SpawnError` when it cannot be started.
    package init(
        _ path: String, _ arguments: [String] = [], environment: [String: String],
        input: String = ""
    ) throws {
        let (process, pipes) = try oneAtATime.withLock { _ in
            let pipes = try (input: Pipe(), output: Pipe(), error: Pipe())
            let ends = [
                STDIN_FILENO: pipes.input.readEnd, STDOUT_FILENO: pipes.output.writeEnd,
                STDERR_FILENO: pipes.error.writeEnd,
            ]
            defer { ends.values.forEach { close($0) } }
            let process = try SpawnedProcess(
                path, arguments, environment: environment, descriptors: ends)
            return (process, pipes)
        }
        id = process.id
        onThread { [exit] in
            let status = Exit(process.waitForExit())
            exit.update { $0 = status }
        }
        onThread { [standardOutput] in collect(pipes.output.readEnd, into: standardOutput) }
        onThread { [standardError] in collect(pipes.error.readEnd, into: standardError) }
        onThread { feed(Array(input.utf8), to: pipes.input.writeEnd) }
    }

    deinit { kill(SIGKILL) }

    package var isRunning: Bool { exit.value == nil }

    package func terminate() { kill(SIGTERM) }

    /// Sends a signal, unless it has ended.
    package func kill(_ signal: Int32) {
        // The lock is held meanwhile: the id is ours until its end has been noted.
        exit.update { if $0 == nil { _ = Glibc.kill(id, signal) } }
    }

    /// Waits for its end.
    package func exitStatus() async throws -> Exit { try await exit.wait { $0 } }

    /// Waits for its end and for all that it has written.
    package func result() async throws -> (exit: Exit, output: String, error: String) {
        let output = try await standardOutput.wait { $0.isComplete ? $0.text : nil }
        let error = try await standardError.wait { $0.isComplete ? $0.text : nil }
        return (try await exitStatus(), output, error)
    }

    /// Waits for the first line that it writes to its standard output.
    package func firstLine() async throws -> String {
        try await standardOutput.wait { output in
            guard let end = output.text.firstIndex(of: "\n") else {
                return output.isComplete ? output.text : nil
            }
            return String(output.text[..<end])
        }
    }
}

/// A child started meanwhile would inherit a pipe before it is marked, and keep it open.
private let oneAtATime = Mutex(())

private struct Pipe {
    let readEnd: Int32
    let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemError("pipe", errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readEnd, writeEnd) = (ends[0], ends[1])
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
