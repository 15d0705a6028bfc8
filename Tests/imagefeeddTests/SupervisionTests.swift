import Contract
import DBus
import TestSupport
import Testing

/// Tests with a daemon whose environment is that of a systemd service.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct SupervisionTests {
    @Test(arguments: [("done", true), ("failed", false)])
    func `systemd starts a browser without limits`(result: String, isOpen: Bool) async throws {
        let manager = try await FakeServiceManager(result: result)
        let fixture = try await UnsplashFixture(launcher: [
            "/bin/sh", "-c", #"SYSTEMD_EXEC_PID=$$ exec "$0" "$@""#,
        ])
        let (login, url) = try await fixture.startLogin()
        if isOpen {
            try await login.openBrowser()
        } else {
            await expectError(.notSupported) { try await login.openBrowser() }
        }
        let commands = manager.units.value.compactMap { $0.properties["ExecStart"] }
        let arguments = Variant.array([.string("xdg-open"), .string(url)], of: "s")
        let command = Variant.structure([.string("xdg-open"), arguments, .bool(false)])
        #expect(commands.first == .array([command], of: "(sasb)"))
        try await login.cancel()
    }

    @Test(arguments: [true, false])
    func `the journal gets priorities, a terminal names of levels`(isJournal: Bool) async throws {
        try RunningDaemon.configure("nonsense\n")
        let stream = isJournal ? "$(stat -L -c %d:%i /dev/stderr)" : "1:2"
        let daemon = try await RunningDaemon(launcher: [
            "/bin/sh", "-c", "JOURNAL_STREAM=\(stream) exec \"$0\" \"$@\"",
        ])
        let line = try await daemon.process.standardError.wait { output in
            output.text.split(separator: "\n").first { $0.contains("configuration") }.map(
                String.init)
        }
        #expect(line.hasPrefix(isJournal ? "<4>A part" : "imagefeedd: warning: A part"), "\(line)")
    }
}
