import TestSupport
import Testing

/// The built `imagefeedctl` on the bus of the running test.
enum Control {
    static let path = BuiltProducts.path("imagefeedctl")

    /// Starts it.
    static func start(
        _ arguments: [String], input: String = "", path folder: String? = nil,
        _ settings: [String: String] = [:]
    ) throws -> ChildProcess {
        let environment = try environment(path: folder).merging(settings) { $1 }
        return try ChildProcess(path, arguments, environment: environment, input: input)
    }

    /// Runs it to its end.
    static func run(
        _ arguments: [String], input: String = "", path folder: String? = nil,
        _ settings: [String: String] = [:]
    ) async throws -> (exit: ChildProcess.Exit, output: String, error: String) {
        try await start(arguments, input: input, path: folder, settings).result()
    }

    /// Puts a script in place of a program of the desktop, in the folder `bin` of the running test.
    ///
    /// A shell writes it: a program that another test starts while we have a file open for writing inherits it
    /// for a moment, and who is open for writing cannot be executed.
    static func install(_ name: String, _ script: String) async throws {
        let folder = try PrivateBus.current.directory.appending("bin")
        let shell = try ChildProcess(
            "/bin/sh",
            [
                "-c",
                "mkdir -p '\(folder)' && cat > '\(folder)/\(name)' && chmod +x '\(folder)/\(name)'",
            ], environment: ["PATH": "/usr/bin:/bin"], input: "#!/bin/sh\n\(script)\n")
        #expect(try await shell.exitStatus() == .code(0))
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
