import BusAPI
import DBus
import Foundation
import LoopbackHTTP
import TestSupport
import Testing

/// Plugins that flood the daemon within their limits, all at the same time.
@Suite(.privateBus, .timeLimit(.minutes(3))) @MainActor
struct PluginFloodTests {
    private static let floods = [
        "log", "values", "rates", "requests", "silent", "large", "errors",
    ]

    @Test func `floods of plugins do not delay the calls to another account`() async throws {
        try Pictures.add(["a", "b", "c"])
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 8 << 20)
        let servers = try (0..<8).map { _ in
            try LoopbackServer { request in
                switch request.path {
                case "/silent": LoopbackResponse(steps: [.silence])
                case "/large": LoopbackResponse(body: body)
                default: LoopbackResponse(text: "ok")
                }
            }
        }
        try install(servers.map(\.origin))
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let local = try await client.logIn("ada")
        try await client.waitUntilReady(local)
        var accounts: [AccountClient] = []
        for flood in Self.floods {
            let login = try await client.service.manager.login(
                "flood_\(flood)", [.username: .string("ada")])
            let path = try await client.service.login(login).wait()
            accounts.append(client.service.account(path))
        }
        // The plugins are started. They flood as long as a call is in progress.
        for account in accounts { _ = try await account.refresh("") }
        for round in 0..<5 {
            let alone = try await median(local, until: nil)
            let refreshes = accounts.map { account in
                Task { _ = try await account.refresh("") }
            }
            let beside = try await median(local, until: refreshes)
            // Half as much again, and the time that a busy machine may take to run each of the processes once.
            if beside <= alone * 1.5 + .milliseconds(40) { break }
            if round == 4 { Issue.record("\(alone), then \(beside)") }
        }
        // What the floods take comes to 30 MiB at most. One JSON message once took 240 MiB.
        #expect(try memory("VmHWM", of: daemon) < 100)
        try await daemon.stop()
    }

    private func median(
        _ account: AccountClient, until others: [Task<Void, any Error>]?
    ) async throws -> Duration {
        let end = Observed(others == nil)
        let waiter = Task {
            for call in others ?? [] { _ = await call.result }
            end.update { $0 = true }
        }
        var times: [Duration] = []
        while times.count < 30 || !end.value {
            let start = ContinuousClock.now
            _ = try await account.page("", cursor: "", count: 3)
            times.append(.now - start)
        }
        await waiter.value
        return times.sorted()[times.count / 2]
    }

    private func install(_ origins: [String]) throws {
        let directory = try PrivateBus.current.directory
        try FloodPlugin.install(
            Self.floods, prefix: "flood_", hosts: origins,
            in: "home/.local/share/imagefeed/providers", of: directory)
        var configuration = ""
        for flood in Self.floods {
            configuration += """
                [Provider flood_\(flood)]
                AllowLoopback=true
                Seconds=2
                Servers=\(origins.joined(separator: " "))

                """
        }
        try directory.write(configuration, to: "home/.config/imagefeed/imagefeed.conf")
    }

    /// Returns an amount of memory of the daemon in MiB.
    private func memory(_ name: String, of daemon: RunningDaemon) throws -> Int {
        let status = try String(
            contentsOfFile: "/proc/\(daemon.process.id)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("\(name):") })
        let words = line.split(whereSeparator: \.isWhitespace)
        return try #require(words.dropFirst().first.flatMap { Int($0) }) >> 10
    }
}
