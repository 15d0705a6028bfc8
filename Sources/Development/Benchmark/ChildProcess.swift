internal import Glibc
internal import System

/// A child process that is terminated at the end of the benchmark at the latest.
final class ChildProcess {
    private static var running: [ChildProcess] = []

    private let process: SpawnedProcess

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: The path of the program.
    ///   - arguments: The arguments after the name of the program.
    ///   - environment: The whole environment.
    ///   - descriptors: The descriptors besides the standard ones, by their number in the program.
    /// - Throws: `SpawnError`.
    init(
        _ path: String, _ arguments: [String] = [], environment: [String: String],
        descriptors: [Int32: Int32] = [:]
    ) throws(SpawnError) {
        process = try SpawnedProcess(
            path, arguments, environment: environment, descriptors: descriptors)
        Self.running.append(self)
    }

    var id: Int32 { process.id }

    /// Terminates the program and waits for its exit.
    func end() {
        guard let index = Self.running.firstIndex(where: { $0 === self }) else { return }
        Self.running.remove(at: index)
        kill(id, SIGTERM)
        _ = process.waitForExit()
    }

    /// Terminates all programs, the last one first.
    static func endAll() { running.reversed().forEach { $0.end() } }
}
