import Foundation
import TestSupport
import Testing

/// Runner of the built `imagefeedctl` on the bus of the running test.
enum Control {
    static let path = BuiltProducts.path("imagefeedctl")
    /// The folder of the project.
    static let project = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Arguments for each command that needs the daemon, except `monitor`.
    static let commands = [
        "status", "providers", "accounts", "default uns", "feed", "sources", "photo 7",
        "image local_ada/7", "open 7", "download 7", "refresh", "logout --yes", "remove uns --yes",
        "login local --username ada", "like 7", "like current", "unlike 7", "toggle queued",
        "likes", "profile", "profile --set-avatar 7", "share 7", "configure unsplash --client-id a",
        "feed --combined", "likes --combined", "sources --combined", "slideshow", "slideshow next",
        "slideshow previous", "slideshow pause", "slideshow resume", "slideshow show 7",
        "slideshow hide current", "slideshow hide 7", "slideshow --json next", "slideshow unhide 7",
        "slideshow watch", "slideshow set --interval 30m", "slideshow set --source combined",
    ].map(\.words)

    /// Returns the content of a file of the project.
    static func file(_ path: String) throws -> String {
        try String(contentsOf: project.appending(path: path), encoding: .utf8)
    }

    /// Returns the content of a file in the folder of the running test.
    static func content(_ name: String) throws -> String {
        try String(contentsOfFile: PrivateBus.current.directory.appending(name), encoding: .utf8)
    }

    /// Starts the program.
    static func start(
        _ arguments: [String], input: String = "", path folder: String? = nil,
        _ settings: [String: String] = [:]
    ) throws -> ChildProcess {
        let environment = try environment(path: folder).merging(settings) { $1 }
        return try ChildProcess(path, arguments, environment: environment, input: input)
    }

    /// Runs the program to its end.
    static func run(
        _ arguments: [String], input: String = "", path folder: String? = nil,
        _ settings: [String: String] = [:]
    ) async throws -> (exit: ChildProcess.Exit, output: String, error: String) {
        try await start(arguments, input: input, path: folder, settings).result()
    }

    /// Runs the program, and expects an exit status.
    @discardableResult
    static func run(
        _ arguments: [String], input: String = "", path folder: String? = nil,
        _ settings: [String: String] = [:], status: Int32,
        location: SourceLocation = #_sourceLocation
    ) async throws -> Outputs {
        try await start(arguments, input: input, path: folder, settings)
            .result(status: status, location: location)
    }

    /// Runs the program, and expects that it succeeds.
    @discardableResult
    static func expectSuccess(
        _ arguments: [String], input: String = "", path folder: String? = nil,
        _ settings: [String: String] = [:], location: SourceLocation = #_sourceLocation
    ) async throws -> Outputs {
        try await run(
            arguments, input: input, path: folder, settings, status: 0, location: location)
    }

    /// Runs the program, and expects that it prints nothing but an error of one line.
    ///
    /// - Parameters:
    ///   - arguments: The arguments.
    ///   - input: The standard input.
    ///   - folder: The value of `PATH`; nil for that of the tests.
    ///   - status: The exit status.
    ///   - text: A part of the error.
    ///   - location: The place of the test.
    /// - Throws: An error if the program cannot be started.
    static func expectFailure(
        _ arguments: [String], input: String = "", path folder: String? = nil, status: Int32,
        _ text: String = "", location: SourceLocation = #_sourceLocation
    ) async throws {
        let result = try await run(
            arguments, input: input, path: folder, status: status, location: location)
        #expect(result.output == "", sourceLocation: location)
        #expect(
            result.error.hasPrefix("imagefeedctl: ") && result.error.hasSuffix("\n")
                && result.error.split(separator: "\n").count == 1
                && (text.isEmpty || result.error.contains(text)),
            "\(result.error)", sourceLocation: location)
    }

    /// Installs a script in place of a desktop program, in the folder `bin` of the running test.
    ///
    /// A shell writes the file. If this process wrote it, a child process of another test could inherit the open
    /// descriptor for a moment, and a file that is open for writing cannot be executed.
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

    /// Runs a shell command in which `$CTL` is the path of the program, and expects its exit status.
    @discardableResult
    static func shell(
        _ line: String, status: Int32 = 0, location: SourceLocation = #_sourceLocation
    ) async throws -> Outputs {
        try await ChildProcess("/bin/sh", ["-c", line], environment: try environment())
            .result(status: status, location: location)
    }

    private static func environment(path folder: String? = nil) throws -> [String: String] {
        var environment = try PrivateBus.current.environment
        environment["TZ"] = "UTC"
        environment["CTL"] = path
        if let folder { environment["PATH"] = folder }
        return environment
    }
}

extension String {
    /// The words of a command line, which may be empty, between single spaces.
    var words: [String] { split(separator: " ", omittingEmptySubsequences: false).map(String.init) }
}

/// The standard output and the standard error of a program.
typealias Outputs = (output: String, error: String)

extension ChildProcess {
    /// Waits for the exit and the complete output, and expects an exit status.
    @discardableResult
    func result(
        status: Int32, location: SourceLocation = #_sourceLocation
    ) async throws -> Outputs {
        let (exit, output, error) = try await result()
        #expect(exit == .code(status), "\(output)\(error)", sourceLocation: location)
        return (output, error)
    }

    /// Waits until the standard output meets a condition or is complete, and returns it.
    func output(until isEnough: @escaping @Sendable (String) -> Bool) async throws -> String {
        try await standardOutput.wait { $0.isComplete || isEnough($0.text) ? $0.text : nil }
    }

    /// Waits until the standard output has a number of lines or is complete, and returns its lines.
    func lines(_ count: Int) async throws -> [String] {
        let text = try await output { $0.count { $0 == "\n" } >= count }
        return text.split(separator: "\n").map(String.init)
    }
}
