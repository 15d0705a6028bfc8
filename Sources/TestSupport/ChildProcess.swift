internal import Glibc
internal import Synchronization

/// A program that a test has started, with what it writes.
///
/// Started with an empty signal mask: Foundation's `Process` passes on the one of Dispatch's
/// threads, and the child then ignores SIGTERM. Killed, if it still runs, with the last reference.
package final class ChildProcess: Sendable {
    package enum Exit: Hashable, Sendable {
        case code(Int32)
        case signal(Int32)
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
    /// - Throws: ``SystemError`` when it cannot be started.
    package init(
        _ path: String, _ arguments: [String] = [], environment: [String: String],
        input: String = ""
    ) throws {
        let (id, pipes) = try oneAtATime.withLock { _ in
            let pipes = try (input: Pipe(), output: Pipe(), error: Pipe())
            let ends = [pipes.input.readEnd, pipes.output.writeEnd, pipes.error.writeEnd]
            defer { ends.forEach { close($0) } }
            return (try spawn(path, arguments, environment, descriptors: ends), pipes)
        }
        self.id = id
        onThread { [exit] in
            let status = waitForExit(id)
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

/// Starts a program with `descriptors` as its first ones and no signal blocked or ignored.
private func spawn(
    _ path: String, _ arguments: [String], _ environment: [String: String], descriptors: [Int32]
) throws -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, descriptor) in descriptors.enumerated() {
        posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var argv = ([path] + arguments).map { strdup($0) } + [nil]
    var envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { (argv + envp).forEach { free($0) } }
    var id: Int32 = 0
    let code = posix_spawn(&id, path, &actions, &attributes, &argv, &envp)
    guard code == 0 else { throw SystemError("posix_spawn \(path)", code) }
    return id
}

private func waitForExit(_ id: Int32) -> ChildProcess.Exit {
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0 && errno == EINTR {}
    // WIFSIGNALED and its like are macros.
    let signal = status & 0x7f
    return signal == 0 ? .code(status >> 8 & 0xff) : .signal(signal)
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
