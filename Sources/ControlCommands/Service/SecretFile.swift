internal import DBus
internal import Glibc
internal import System
internal import Translation

/// A file with a password or another secret, which is passed to the daemon as a file descriptor.
struct SecretFile {
    /// The largest secret that the daemon accepts.
    static let limitBytes = 65536

    /// The kinds of secrets, with their messages.
    enum Kind {
        case password
        case clientSecret
        case key

        fileprivate var question: String {
            switch self {
            case .password: tr("Password:")
            case .clientSecret: tr("Client secret:")
            case .key: tr("Key:")
            }
        }

        fileprivate func tooLong(in file: String) -> String {
            switch self {
            case .password:
                tr("The password in {file} is longer than 64 KiB.", ["file": file])
            case .clientSecret:
                tr("The client secret in {file} is longer than 64 KiB.", ["file": file])
            case .key: tr("The key in {file} is longer than 64 KiB.", ["file": file])
            }
        }

        fileprivate func unreadable(in file: String, _ reason: String) -> String {
            let values: KeyValuePairs = ["file": file, "reason": reason]
            return switch self {
            case .password: tr("The password cannot be read from {file}: {reason}.", values)
            case .clientSecret:
                tr("The client secret cannot be read from {file}: {reason}.", values)
            case .key: tr("The key cannot be read from {file}: {reason}.", values)
            }
        }
    }

    let path: PathBytes
    let kind: Kind

    /// - Parameters:
    ///   - path: The path; `-` is standard input.
    ///   - kind: The kind of the secret.
    init(_ path: PathBytes, _ kind: Kind) {
        self.path = path
        self.kind = kind
    }

    /// Returns a pipe that contains the secret.
    ///
    /// One line feed at the end of the file is not part of the secret. If the path is `-` and standard input is a
    /// terminal, the method prompts for the secret.
    ///
    /// - Throws: ``CommandFailure`` if the file cannot be read or is too long.
    @MainActor func descriptor() async throws(CommandFailure) -> FileDescriptor {
        try piped(
            isStandardInput && Console.canPrompt
                ? await HiddenInput.readLine(kind.question) : read())
    }

    /// Prompts for a secret on the terminal.
    ///
    /// - Parameters:
    ///   - kind: The kind of the secret.
    ///   - question: The prompt; nil for that of the kind.
    /// - Returns: A pipe that contains the secret; nil if the line was empty.
    /// - Throws: ``CommandFailure`` if the terminal cannot be read.
    @MainActor static func prompt(
        _ kind: Kind, _ question: String? = nil
    ) async throws(CommandFailure) -> FileDescriptor? {
        let bytes = try await HiddenInput.readLine(question ?? kind.question)
        return bytes.isEmpty ? nil : try SecretFile(PathBytes("-"), kind).piped(bytes)
    }

    /// Prompts for a new password on the terminal, twice, because the input is hidden.
    ///
    /// - Returns: A pipe that contains the password; nil if the first line was empty.
    /// - Throws: ``CommandFailure``, also if the two lines differ.
    @MainActor static func promptForNewPassword() async throws(CommandFailure) -> FileDescriptor? {
        var first = try await HiddenInput.readLine(tr("Password (empty for none):"))
        defer { HiddenInput.erase(&first) }
        guard !first.isEmpty else { return nil }
        var second = try await HiddenInput.readLine(tr("Password again:"))
        defer { HiddenInput.erase(&second) }
        guard first == second else {
            throw CommandFailure.tr("The second password differs from the first one. Try again.")
        }
        return try SecretFile(PathBytes("-"), .password).piped(first)
    }

    /// Returns the read end of a pipe that contains the bytes without a line feed at the end, and erases the bytes.
    private func piped(_ secret: consuming [UInt8]) throws(CommandFailure) -> FileDescriptor {
        var bytes = secret
        defer { HiddenInput.erase(&bytes) }
        var count = bytes.count
        if bytes.last == UInt8(ascii: "\n") { count -= 1 }
        guard count <= Self.limitBytes else {
            throw CommandFailure(.failed, kind.tooLong(in: name))
        }
        guard let pipe = FileDescriptor.pipe(holding: bytes, count) else { throw failure(errno) }
        return pipe
    }

    private var isStandardInput: Bool { path == PathBytes("-") }
    private var name: String {
        // Translators: in place of the name of a file.
        isStandardInput ? tr("standard input") : path.text
    }

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
            kind.unreadable(in: name, String(cString: strerror(number))))
    }
}
