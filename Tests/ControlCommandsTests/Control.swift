import Foundation
import TestSupport

/// The built `imagefeedctl` on the bus of the running test.
enum Control {
    static let path = BuiltProducts.path("imagefeedctl")

    /// Starts it.
    static func start(
        _ arguments: [String], input: String = "", path folder: String? = nil
    ) throws -> ChildProcess {
        try ChildProcess(
            path, arguments, environment: try environment(path: folder), input: input)
    }

    /// Runs it to its end.
    static func run(
        _ arguments: [String], input: String = "", path folder: String? = nil
    ) async throws -> (exit: ChildProcess.Exit, output: String, error: String) {
        try await start(arguments, input: input, path: folder).result()
    }

    /// Runs a line of a shell in which `$CTL` is it.
    static func shell(
        _ line: String
    ) async throws -> (exit: ChildProcess.Exit, output: String, error: String) {
        try await ChildProcess("/bin/sh", ["-c", line], environment: try environment()).result()
    }

    private static func environment(path folder: String? = nil) throws -> [String: String] {
        var environment = try PrivateBus.current.environment
        environment["TZ"] = "UTC"
        environment["CTL"] = path
        if let folder { environment["PATH"] = folder }
        return environment
    }
}
