import Contract
import DBus
import Foundation
import TestSupport
import Testing
import UnsplashSimulator

/// Tests that the examples in the README work.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct ReadmeTests {
    private static let file = repository.appending(path: "README.md")

    @Test func `the examples for Python and busctl configure and use Unsplash`() async throws {
        let unsplash = try await UnsplashFixture(setup: .addresses).unsplash
        let directory = try PrivateBus.current.directory
        let environment = try PrivateBus.current.environment

        let program = try directory.write(
            try Self.block("python", with: "UnixFd"), to: "configure.py")
        let configuring = try await ChildProcess(
            "/usr/bin/python3", [program, unsplash.clientID], environment: environment,
            input: "\(unsplash.clientSecret)\n"
        ).result()
        #expect(configuring.exit == .code(0), "\(configuring.error)")

        let commands = try Self.block("sh", with: "AuthorizationUrl")
        let script = try ChildProcess(
            "/bin/bash", ["-euo", "pipefail", "-c", commands],
            environment: environment)
        try await unsplash.approve(try await script.firstLine(), as: "ada")
        let (exit, output, error) = try await script.result()
        #expect(exit == .code(0), "\(error)")
        let lines = output.split(separator: "\n").map(String.init)
        // The address, ten photos, the outcome of the like, and the file.
        try #require(lines.count == 13, "\(output)")
        let ids = lines[1...10].compactMap { $0.split(separator: "\t").first.map(String.init) }
        #expect(Set(ids).count == 10, "\(output)")
        #expect(lines[11] == "done")
        #expect(unsplash.likes(of: "ada") == [ids[0]])
        #expect(lines[12].hasPrefix(directory.appending("home/.cache/imagefeed/images/")))
        let client = try TestClient()
        let account = client.proxy(ServiceName.accounts.appending("unsplash_ada"))
        #expect(try await account.property(.account, "State") == .string("logged-out"))
    }

    /// Returns the only code block in a language that contains a text.
    private static func block(_ language: String, with text: String) throws -> String {
        let readme = try String(contentsOf: file, encoding: .utf8)
        let blocks = readme.components(separatedBy: "\n```\(language)\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```\n").first }
            .filter { $0.contains(text) }
        try #require(blocks.count == 1, "\(blocks)")
        return blocks[0] + "\n"
    }
}
