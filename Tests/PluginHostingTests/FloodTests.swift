import Glibc
import HTTP
import Logging
import LoopbackHTTP
import PluginHosting
import ProviderKit
import TestSupport
import Testing

/// Floods within the limits of a plugin, by an ordinary user. Other plugins and built-in providers are served meanwhile.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct FloodTests {
    @Test(
        arguments: Flood.allCases.map { [$0.rawValue] } + [Flood.allCases.map(\.rawValue)],
        sandboxes)
    func `a flood, or all floods together, do not delay the calls of others`(
        _ floods: [String], _ sandbox: String
    ) async {
        await #expect(processExitsWith: .success) { [floods, sandbox] in
            await recordErrors { try await expectUndelayedCalls(beside: floods, in: sandbox) }
        }
    }
}

/// The floods of `dist/development/flood-plugin.py`.
private enum Flood: String, CaseIterable {
    case log, values, rates, requests, silent, large, unread, incomplete, packets
    case errors, threads, memory, spin
}

private let sandboxes = [SandboxKind.bubblewrap, .landlock].map(\.rawValue)

/// Compares the times of calls in one run.
@MainActor
private func expectUndelayedCalls(beside floods: [String], in sandbox: String) async throws {
    let programs = try OrdinaryPrograms()
    // Without optimization, all floods together may take all of the processor time that large pages need.
    let names = CallTimes.neighbours.prefix(floods.count == 1 ? CallTimes.neighbours.count : 1)
    let fixture = try FloodFixture(floods + names, in: sandbox, programs.programs)
    let neighbours = try names.map { try fixture.session($0) }
    let sessions = try floods.map { try fixture.session($0) }
    try await compareTimes {
        let alone = try await CallTimes(neighbours, fixture, until: nil)
        let calls = sessions.map { session in
            Task { try await session.fetchPage(SourceID("home"), from: nil) }
        }
        // The plugins of the first round have to start.
        try await fixture.waitUntilRunning(floods)
        let beside = try await CallTimes(neighbours, fixture, until: calls)
        return beside.isWithinLimit(alone) ? nil : "\(alone), then \(beside)"
    }
}

/// The times of the calls of neighbours that are plugins, and of the requests of a built-in provider.
private struct CallTimes: CustomStringConvertible {
    /// Plugins with small pages, with pages of 2 MiB, and with pages after a response of 1.5 MiB.
    static let neighbours = ["calm", "pages", "answers"]

    /// The times of the calls of each neighbour, and of the requests.
    private var times: [[Duration]]

    /// Measures until other calls end; without such calls, 30 times.
    @MainActor
    init(
        _ neighbours: [any RemoteFeed], _ fixture: FloodFixture,
        until others: [Task<RemotePage, any Error>]?
    ) async throws {
        times = Array(repeating: [], count: neighbours.count + 1)
        let end = Observed(others == nil)
        let waiter = Task {
            for call in others ?? [] { _ = await call.result }
            end.update { $0 = true }
        }
        let clock = ContinuousClock()
        repeat {
            for (index, neighbour) in neighbours.enumerated()
            // Large pages take as much processor time as many small ones.
            where index == 0 || times[0].count % 5 == 1 {
                times[index].append(
                    try await clock.measure {
                        _ = try await neighbour.fetchPage(SourceID("home"), from: nil)
                    })
            }
            times[neighbours.count].append(try await clock.measure { try await fixture.request() })
            // Thousands of calls in a second would take all of the processor time that the plugin may take.
            try await clock.sleep(for: .milliseconds(2))
        } while !end.value || others == nil && times[0].count < 30
        await waiter.value
    }

    /// Half as much again, and the time that a busy machine may take to run each of the processes once.
    func isWithinLimit(_ alone: CallTimes) -> Bool {
        zip(times, alone.times).allSatisfy {
            Self.median($0) <= Self.median($1) * 1.5 + .milliseconds(40)
        }
    }

    private static func median(_ times: [Duration]) -> Duration { times.sorted()[times.count / 2] }

    var description: String {
        zip(Self.neighbours.prefix(times.count - 1) + ["requests"], times).map {
            "\($0): \(Self.median($1))"
        }
        .joined(separator: ", ")
    }
}

/// Plugins that flood, with one host, as in the daemon.
@MainActor
private final class FloodFixture {
    private let directory: TemporaryDirectory
    private let host: PluginHost
    private let http: CurlClient
    private let servers: [LoopbackServer]
    private let settings: ProviderSettings
    private let log = Observed<[String]>()

    init(_ plugins: [String], in sandbox: String, _ programs: SandboxPrograms) throws {
        directory = try TemporaryDirectory()
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: 8 << 20)
        let page = Array(text.prefix(3 << 19))
        servers = try (0..<8).map { _ in
            try LoopbackServer { request in
                switch request.path {
                case "/silent": LoopbackResponse(steps: [.silence])
                case "/large": LoopbackResponse(body: text)
                case "/page": LoopbackResponse(body: page)
                default: LoopbackResponse(text: "ok")
                }
            }
        }
        let origins = servers.map(\.origin)
        try FloodPlugin.install(plugins, hosts: origins, in: "providers", of: directory)
        settings = ProviderSettings([
            "AllowLoopback": "true", "Seconds": "1", "Servers": origins.joined(separator: " "),
        ])
        http = CurlClient(userAgent: "Test") {}
        let logger = Logger(label: "test") { [log] _ in ListLogHandler(lines: log) }
        let level = try #require(SandboxKind(rawValue: sandbox))
        host = PluginHost(
            folders: [directory.appending("providers")], reserved: [],
            confinements: [level], programs: programs, logger: logger
        ) { [settings] _ in settings }
        host.start()
    }

    isolated deinit { host.stop() }

    func session(_ plugin: String) throws -> any RemoteFeed {
        let provider = try #require(host.providers.first { $0.info.id == plugin })
        try #require(provider.condition.state == .ready, "\(provider.condition.reason)")
        let session = provider.makeSession(
            AccountIdentity(username: "ada"),
            SessionPorts(http: http, settings: settings, logger: .silent))
        return try #require(session.remoteFeed)
    }

    /// Waits until plugins were started.
    func waitUntilRunning(_ plugins: [String]) async throws {
        let names = Set(plugins)
        try await log.wait { lines in
            names.allSatisfy { name in
                lines.contains {
                    $0.contains("A plugin was started") && $0.contains("plugin=\(name)")
                }
            } ? true : nil
        }
    }

    /// Sends a request as a built-in provider, to one of the servers.
    func request() async throws {
        let response = try await http.send(HTTPRequest(.get, "\(servers[0].origin)/built-in"))
        #expect(response.isSuccess)
    }
}
