internal import DBus
internal import Glibc
internal import ProviderKit
internal import System
internal import Translation

/// A kind of secret, which is passed to the daemon as a file descriptor.
enum SecretKind {
    case password
    case clientSecret
    case key

    /// The largest secret that the daemon accepts.
    private static let limitBytes = 65536
    /// The path that stands for standard input.
    private static let standardInput = PathBytes("-")

    /// Returns a pipe that contains the secret of a file.
    ///
    /// One line feed at the end of the file is not part of the secret. If the path is `-` and standard input is a
    /// terminal, the method prompts for the secret.
    ///
    /// - Parameter path: The path; `-` is standard input.
    /// - Returns: The read end of the pipe.
    /// - Throws: ``CommandFailure`` if the file cannot be read or is too long.
    @MainActor func read(from path: PathBytes) async throws(CommandFailure) -> FileDescriptor {
        try makePipe(
            path == Self.standardInput && Console.canPrompt
                ? await StandardInput.hiddenLine(question) : contents(of: path), path)
    }

    /// Prompts for the secret on the terminal.
    ///
    /// - Parameter question: The prompt; nil for that of the kind.
    /// - Returns: A pipe that contains the secret; nil if the line was empty.
    /// - Throws: ``CommandFailure`` if the terminal cannot be read.
    @MainActor func prompt(
        _ question: String? = nil
    ) async throws(CommandFailure) -> FileDescriptor? {
        let bytes = try await StandardInput.hiddenLine(question ?? self.question)
        return bytes.line.isEmpty ? nil : try makePipe(bytes, Self.standardInput)
    }

    /// Prompts for a new password on the terminal, twice, because the input is hidden.
    ///
    /// - Returns: A pipe that contains the password; nil if the first line was empty.
    /// - Throws: ``CommandFailure``, also if the two lines differ.
    @MainActor static func promptForNewPassword() async throws(CommandFailure) -> FileDescriptor? {
        let first = try await StandardInput.hiddenLine(tr("Password (empty for none):"))
        guard !first.line.isEmpty else { return nil }
        let second = try await StandardInput.hiddenLine(tr("Password again:"))
        let isEqual = withExtendedLifetime((first, second)) {
            first.line.elementsEqual(second.line)
        }
        guard isEqual else {
            throw CommandFailure.tr("The second password differs from the first one. Try again.")
        }
        return try SecretKind.password.makePipe(first, standardInput)
    }

    /// Returns the read end of a pipe that contains the bytes without a line feed at the end.
    private func makePipe(
        _ secret: SecretBytes, _ path: PathBytes
    ) throws(CommandFailure) -> FileDescriptor {
        guard secret.line.count <= Self.limitBytes else { throw tooLong(path) }
        let pipe = withExtendedLifetime(secret) { FileDescriptor.pipe(holding: secret.line) }
        guard let pipe else {
            throw unreadable(path, errno)
        }
        return pipe
    }

    /// Reads a file up to the limit and two more bytes: a line feed, and one that shows that the file is too long.
    private func contents(of path: PathBytes) throws(CommandFailure) -> SecretBytes {
        let descriptor =
            path == Self.standardInput
            ? dup(STDIN_FILENO) : path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { close(descriptor) }
        let bytes = SecretBytes(capacity: Self.limitBytes + 2)
        guard bytes.readToEnd(descriptor) else { throw unreadable(path, errno) }
        return bytes
    }

    // MARK: Texts

    private var question: String {
        switch self {
        case .password: tr("Password:")
        case .clientSecret: tr("Client secret:")
        case .key: tr("Key:")
        }
    }

    private func tooLong(_ path: PathBytes) -> CommandFailure {
        let values: KeyValuePairs = ["file": Self.name(path)]
        return switch self {
        case .password: .tr("The password in {file} is longer than 64 KiB.", values)
        case .clientSecret: .tr("The client secret in {file} is longer than 64 KiB.", values)
        case .key: .tr("The key in {file} is longer than 64 KiB.", values)
        }
    }

    private func unreadable(_ path: PathBytes, _ number: Int32) -> CommandFailure {
        let values: KeyValuePairs = [
            "file": Self.name(path), "reason": String(cString: strerror(number)),
        ]
        return switch self {
        case .password: .tr("The password cannot be read from {file}: {reason}.", values)
        case .clientSecret:
            .tr("The client secret cannot be read from {file}: {reason}.", values)
        case .key: .tr("The key cannot be read from {file}: {reason}.", values)
        }
    }

    private static func name(_ path: PathBytes) -> String {
        // Translators: in place of the name of a file.
        path == standardInput ? tr("standard input") : path.text
    }
}
