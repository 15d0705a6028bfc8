internal import Glibc
internal import Sandbox
internal import System

/// A lack of processes, memory or descriptors. It passes, and is not the fault of the program that failed to start.
nonisolated enum Shortage {
    private static let codes = [EAGAIN, ENOMEM, EMFILE, ENFILE]

    /// True if an error of a start says so.
    static func isReason(for error: any Error) -> Bool {
        switch error {
        case let error as SpawnError: codes.contains(error.code)
        case let error as SandboxError: codes.contains(error.code)
        default: false
        }
    }

    /// True if the last line that `bwrap` has written says so.
    ///
    /// `bwrap` reports no numbers of errors. It does not translate their texts.
    static func isReason(for lines: [String]) -> Bool {
        guard let line = lines.last else { return false }
        return codes.contains { line.hasSuffix(String(cString: strerror($0))) }
    }
}
