internal import DBus
internal import Glibc
internal import System

/// A file with a password or another secret, which is passed to the daemon as a file descriptor.
struct SecretFile {
    /// The largest secret that the daemon accepts.
    static let limitBytes = 65536

    let path: PathBytes
    /// The word for the secret in messages, such as "password".
    let noun: String

    /// - Parameters:
    ///   - path: The path; `-` is standard input.
    ///   - noun: The word for the secret in messages.
    init(_ path: PathBytes, _ noun: String) {
        self.path = path
        self.noun = noun
    }

    /// Returns a pipe that contains the secret.
    ///
    /// One line feed at the end of the file is not part of the secret. If the path is `-` and standard input is a
    /// terminal, the method prompts for the secret.
    ///
    /// - Throws: ``CommandFailure`` if the file cannot be read or is too long.
    @MainActor func descriptor() async throws(CommandFailure) -> FileDescriptor {
        try piped(isStandardInput && Console.canPrompt ? await prompt() : read())
    }

    /// Prompts for a secret on the terminal.
    ///
    /// - Returns: A pipe that contains the secret; nil if the line was empty.
    @MainActor static func prompt(
        for noun: String
    ) async throws(CommandFailure) -> FileDescriptor? {
        let file = SecretFile(PathBytes("-"), noun)
        let bytes = try await file.prompt()
        return bytes.isEmpty ? nil : try file.piped(bytes)
    }

    /// Prompts for a new secret on the terminal, twice, because the input is hidden.
    ///
    /// - Returns: A pipe that contains the secret; nil if the first line was empty.
    /// - Throws: ``CommandFailure``, also if the two lines differ.
    @MainActor static func promptForNew(
        _ noun: String
    ) async throws(CommandFailure) -> FileDescriptor? {
        let file = SecretFile(PathBytes("-"), noun)
        var first = try await file.prompt(" (empty for none)")
        defer { HiddenInput.erase(&first) }
        guard !first.isEmpty else { return nil }
        var second = try await file.prompt(" again")
        defer { HiddenInput.erase(&second) }
        guard first == second else {
            throw CommandFailure(
                .failed, "The second \(noun) differs from the first one. Try again.")
        }
        return try file.piped(first)
    }

    @MainActor private func prompt(_ more: String = "") async throws(CommandFailure) -> [UInt8] {
        try await HiddenInput.readLine("\(noun.prefix(1).uppercased())\(noun.dropFirst())\(more):")
    }

    /// Returns the read end of a pipe that contains the bytes without a line feed at the end, and erases the bytes.
    private func piped(_ secret: consuming [UInt8]) throws(CommandFailure) -> FileDescriptor {
        var bytes = secret
        defer { HiddenInput.erase(&bytes) }
        var count = bytes.count
        if bytes.last == UInt8(ascii: "\n") { count -= 1 }
        guard count <= Self.limitBytes else {
            throw CommandFailure(.failed, "The \(noun) in \(name) is longer than 64 KiB.")
        }
        guard let pipe = FileDescriptor.pipe(holding: bytes, count) else { throw failure(errno) }
        return pipe
    }

    private var isStandardInput: Bool { path == PathBytes("-") }
    private var name: String { isStandardInput ? "standard input" : path.text }

    /// Reads the file up to the limit and two more bytes: a line feed, and one that shows that the file is too long.
    private func read() throws(CommandFailure) -> [UInt8] {
        let descriptor =
            isStandardInput
            ? dup(STDIN_FILENO) : path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        // The array has its final size: growing it would leave copies of the secret in memory.
        var bytes = [UInt8](repeating: 0, count: Self.limitBytes + 2)
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes {
                let rest = UnsafeMutableRawBufferPointer(rebasing: $0[count...])
                return Glibc.read(descriptor, rest.baseAddress, rest.count)
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw failure(errno) }
            if more == 0 { break }
            count += more
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    private func failure(_ number: Int32) -> CommandFailure {
        CommandFailure(
            .failed,
            "The \(noun) cannot be read from \(name): \(String(cString: strerror(number))).")
    }
}
