internal import DBus
internal import Glibc

/// A file with a password or another secret, which goes to the daemon as a descriptor and nowhere else.
struct SecretFile {
    /// As much as the daemon reads.
    static let limitBytes = 65536

    let path: PathBytes
    /// What is in it: "password".
    let noun: String

    /// - Parameters:
    ///   - path: `-` is standard input.
    ///   - noun: What is in it, for people.
    init(_ path: PathBytes, _ noun: String) {
        self.path = path
        self.noun = noun
    }

    /// The secret, in a pipe.
    ///
    /// One line feed at its end is no part of it. `-` at a terminal asks for it.
    ///
    /// - Throws: ``CommandFailure`` when the file cannot be read or is too long.
    @MainActor func descriptor() async throws(CommandFailure) -> FileDescriptor {
        try piped(isStandardInput && Console.canAsk ? await ask() : read())
    }

    /// Asks a person at the terminal.
    ///
    /// - Returns: The secret, in a pipe; nil when nothing was typed.
    @MainActor static func ask(
        for noun: String
    ) async throws(CommandFailure) -> FileDescriptor? {
        let file = SecretFile(PathBytes("-"), noun)
        let bytes = try await file.ask()
        return bytes.isEmpty ? nil : try file.piped(bytes)
    }

    /// Asks a person at the terminal for a new secret, twice, since nobody sees what they type.
    ///
    /// - Returns: The secret, in a pipe; nil when nothing was typed.
    /// - Throws: ``CommandFailure`` also when the two are not the same.
    @MainActor static func askForNew(
        _ noun: String
    ) async throws(CommandFailure) -> FileDescriptor? {
        let file = SecretFile(PathBytes("-"), noun)
        var first = try await file.ask(" (empty for none)")
        defer { HiddenInput.erase(&first) }
        guard !first.isEmpty else { return nil }
        var second = try await file.ask(" again")
        defer { HiddenInput.erase(&second) }
        guard first == second else {
            throw CommandFailure(.failed, "The second \(noun) is not the first one.")
        }
        return try file.piped(first)
    }

    @MainActor private func ask(_ more: String = "") async throws(CommandFailure) -> [UInt8] {
        try await HiddenInput.line("\(noun.prefix(1).uppercased())\(noun.dropFirst())\(more):")
    }

    /// - Returns: The end of a pipe from which the bytes are read, but for a line feed at the end.
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

    /// All bytes, or enough of them to see that they are too many.
    private func read() throws(CommandFailure) -> [UInt8] {
        let descriptor =
            isStandardInput
            ? dup(STDIN_FILENO) : path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        // Never grows: a copy of the secret would stay behind.
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
