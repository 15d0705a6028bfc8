internal import Glibc
internal import System

/// A program that ends with us at the latest.
final class ChildProcess {
    private static var running: [ChildProcess] = []

    private let process: SpawnedProcess

    /// Starts a program; `descriptors` are what it has besides its standard ones, by their numbers there.
    init(
        _ path: String, _ arguments: [String] = [], environment: [String: String],
        descriptors: [Int32: Int32] = [:]
    ) throws(SpawnError) {
        process = try SpawnedProcess(
            path, arguments, environment: environment, descriptors: descriptors)
        Self.running.append(self)
    }

    var id: Int32 { process.id }

    /// Tells it to end, and waits until it has.
    func end() {
        guard let index = Self.running.firstIndex(where: { $0 === self }) else { return }
        Self.running.remove(at: index)
        kill(id, SIGTERM)
        _ = process.waitForExit()
    }

    /// Ends them all, the last one first.
    static func endAll() { running.reversed().forEach { $0.end() } }
}
