internal import Glibc
internal import Sandbox
internal import System

/// A temporary lack of processes, memory or descriptors, which is not caused by the program that failed to start.
nonisolated enum Shortage {
    private static let codes = [EAGAIN, ENOMEM, EMFILE, ENFILE]

    /// Returns true if an error of a start reports a shortage.
    static func isReason(for error: any Error) -> Bool {
        let code = (error as? SpawnError)?.code ?? (error as? SandboxError)?.code
        return code.map(codes.contains) ?? false
    }

    /// Returns true if the last line that `bwrap` has written reports a shortage.
    ///
    /// `bwrap` prints the untranslated text of an error and not its number.
    static func isReason(for line: String) -> Bool {
        codes.contains { line.hasSuffix(String(cString: strerror($0))) }
    }
}
