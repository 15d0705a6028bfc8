import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of local users with passwords, from the command line to the disk.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct PasswordTests {
    private static let password = "correct horse battery staple"

    @Test func `a password logs its user in and is not disclosed`() async throws {
        let recording = try await BusRecording()
        var daemon = try await RunningDaemon(["--log-level", "debug"])
        let login = ["login", "local", "--username", "ada", "--password-file", "-"]
        let registered = try await Terminal.start(
            login + ["--register"], input: Self.password + "\n"
        ).result()
        #expect(registered.exit == .code(0), "\(registered.error)")
        #expect(registered.output == "local_ada\n")
        #expect(try await Terminal.run("logout", "local_ada", "--yes").exit == .code(0))
        var log = daemon.process.standardError.value.text
        try await daemon.stop()
        daemon = try await RunningDaemon(["--log-level", "debug"])
        let accounts = try await Terminal.run("accounts")
        #expect(accounts.output.contains("local_ada"), "\(accounts.output)")
        let wrong = try await Terminal.start(login, input: "wrong " + Self.password).result()
        #expect(wrong.exit == .code(1))
        #expect(wrong.error.contains("The password of ada is wrong; try again."), "\(wrong.error)")
        let again = try await Terminal.start(login, input: Self.password).result()
        #expect(again.exit == .code(0), "\(again.error)")
        log += daemon.process.standardError.value.text
        let bus = try await recording.text()
        let process = daemon.process.id
        let environment = try String(
            decoding: Data(contentsOf: URL(filePath: "/proc/\(process)/environ")), as: UTF8.self)
        #expect(!(log + bus + environment).contains(Self.password))
        #expect(!(log + bus).contains("$y$"))
        #expect(bus.contains("local_ada"))
        #expect(try await files(holding: [Self.password]) == [])
        try await daemon.stop()
        #expect(try await files(holding: [Self.password]) == [])
        // Only the user can read the hash, and it is deleted with its local user.
        let holders = try await files(holding: ["$y$"])
        #expect(!holders.isEmpty)
        for file in holders {
            #expect(file.contains("/.local/share/imagefeed/data.sqlite"))
            var status = stat()
            try #require(stat(file, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
        _ = try await RunningDaemon()
        #expect(try await Terminal.run("remove", "local_ada", "--yes").exit == .code(0))
        #expect(try await files(holding: ["$y$"]) == [])
    }
}
