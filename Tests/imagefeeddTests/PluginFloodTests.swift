import Contract
import DBus
import Foundation
import TestSupport
import Testing

/// Plugins that flood the daemon within their limits. An account of a built-in provider and one of another plugin are
/// served meanwhile.
///
/// The daemon, the bus and the plugins belong to an ordinary user, because root is exempt from some limits.
@Suite(.timeLimit(.minutes(15)), .serialized)
struct PluginFloodTests {
    @Test(arguments: ["bubblewrap", "landlock"])
    func `floods of plugins do not delay the calls to other accounts`(_ sandbox: String) async {
        await #expect(processExitsWith: .success) { [sandbox] in
            await recordErrors { try await expectUndelayedCalls(in: sandbox) }
        }
    }
}

/// The floods of `dist/development/flood-plugin.py`.
private let floods = [
    "log", "values", "rates", "requests", "silent", "large", "errors", "threads", "memory", "spin",
    "pages", "images",
]

@MainActor
private func expectUndelayedCalls(in sandbox: String) async throws {
    signal(SIGPIPE, SIG_IGN)
    let programs = try OrdinaryUser.become(
        copying: ["imagefeedd", "imagefeed-image-helper", "imagefeed-plugin-launcher"],
        isNamed: true)
    try await PrivateBus.run {
        let flooded = try await FloodedDaemon(programs.appending("imagefeedd"), in: sandbox)
        // FloodTests has each flood in each sandbox.
        if sandbox == "bubblewrap" {
            for flood in floods { try await flooded.expectUndelayedCalls(beside: [flood]) }
        }
        try await flooded.expectUndelayedCalls(beside: floods)
        try await flooded.stop()
    }
    withExtendedLifetime(programs) {}
}

/// A daemon with one account for each flood, and two accounts that are measured.
@MainActor
private final class FloodedDaemon {
    private let daemon: RunningDaemon
    /// The process of the daemon, whose parent may be a launcher.
    private let id: Int32
    private let servers: [LoopbackServer]
    private let client: TestClient
    private let local: AccountClient
    private let plugin: AccountClient
    private var accounts: [String: AccountClient] = [:]
    private var count: UInt32 = 0

    /// The resident memory that the daemon may have, in MiB. Without optimization, it takes some more. All floods
    /// together are more than the plugins of a user.
    private static func maximumMemory(_ floods: [String]) -> Int {
        (BuiltProducts.areOptimized ? 100 : 120) + (floods.count > 1 ? 20 : 0)
    }
    /// The factor by which calls may take longer beside floods. Without optimization, the daemon spends many times as much
    /// processor time on the same messages, and plugins may take nine times as much of it.
    private static func maximumFactor(_ floods: [String]) -> Double {
        BuiltProducts.areOptimized ? 1.5 : floods.count > 1 ? 4 : 2
    }

    private static let floodTime = Duration.seconds(1)

    init(_ program: String, in sandbox: String) async throws {
        for number in 0..<100 { try Pictures.add("\(number).png", age: Double(number)) }
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 8 << 20)
        let image = Array(Pictures.png) + body
        servers = try (0..<8).map { _ in
            try LoopbackServer { request in
                switch request.path {
                case "/silent": LoopbackResponse(steps: [.silence])
                case "/large": LoopbackResponse(body: body)
                case "/image":
                    LoopbackResponse(headers: [("Content-Type", "image/png")], body: image)
                default: LoopbackResponse(text: "ok")
                }
            }
        }
        try Self.install(servers.map(\.origin))
        let withoutBubblewrap = [
            "/usr/bin/bwrap", "--dev-bind", "/", "/", "--ro-bind", "/dev/null", "/usr/bin/bwrap",
        ]
        daemon = try await RunningDaemon(
            launcher: sandbox == "landlock" ? withoutBubblewrap : [], program: program)
        client = try TestClient()
        id = try await client.process()
        local = try await client.logIn("ada")
        try await client.waitUntilReady(local)
        plugin = try await Self.logIn("calm", client)
        for flood in floods { accounts[flood] = try await Self.logIn(flood, client) }
        let used = try await client.provider("flood_log")
            .properties()["Sandbox"]
        #expect(used == .string(sandbox))
    }

    private static func install(_ origins: [String]) throws {
        let directory = try PrivateBus.current.directory
        try FloodPlugin.install(
            floods + ["calm"], prefix: "flood_", hosts: origins,
            in: "home/.local/share/imagefeed/providers", of: directory)
        var configuration = ""
        for flood in floods + ["calm"] {
            configuration += """
                [Provider flood_\(flood)]
                AllowLoopback=true
                Seconds=1
                Servers=\(origins.joined(separator: " "))

                """
        }
        try directory.write(configuration, to: "home/.config/imagefeed/imagefeed.conf")
    }

    private static func logIn(_ flood: String, _ client: TestClient) async throws -> AccountClient {
        let account = try await client.logIn(to: "flood_\(flood)", [.username: .string("ada")])
        // The plugin is started.
        _ = try? await account.refresh("")
        return account
    }

    /// Compares the times of calls at rest and beside floods, which take turns.
    func expectUndelayedCalls(beside floods: [String]) async throws {
        let name = floods.count == 1 ? floods[0] : "all floods"
        // Feeds share a database: the calls of the other plugin wait for single transactions of 500 photos with long
        // texts, which count in the mean.
        let meanFactor = floods.contains("pages") ? 2.0 : 1
        try await compareTimes {
            let (alone, beside) = try await compare(with: floods)
            let isWithinLimit = beside.isWithinLimit(
                alone, Self.maximumFactor(floods), meanFactor)
            return isWithinLimit ? nil : "\(name): \(alone), then \(beside)"
        }
        let memory = try daemon.memory("VmHWM", of: id) >> 10
        #expect(memory <= Self.maximumMemory(floods), "\(name): \(memory) MiB")
    }

    private func compare(
        with floods: [String]
    ) async throws -> (alone: NeighbourTimes, beside: NeighbourTimes) {
        let restEnd = ContinuousClock.now + Self.floodTime
        let alone = try await measure { ContinuousClock.now < restEnd }
        let end = ContinuousClock.now + Self.floodTime
        let running = Observed(floods.count)
        let tasks = floods.compactMap { accounts[$0] }.map { account in
            Task {
                repeat { await Self.flood(account) } while ContinuousClock.now < end
                running.update { $0 -= 1 }
            }
        }
        let beside = try await measure { running.value > 0 }
        for task in tasks { await task.value }
        return (alone, beside)
    }

    /// Calls a plugin, and fetches the images of its photos. A plugin that was ended may fail.
    private static func flood(_ account: AccountClient) async {
        guard (try? await account.refresh("")) != nil,
            let photos = try? await account.page("", cursor: "", count: 8).photos
        else { return }
        let images = photos.compactMap { $0["id"]?.string }.map { id in
            Task { try? await account.imagePath(id, size: "full") }
        }
        for image in images { _ = await image.value }
    }

    private func measure(while condition: () -> Bool) async throws -> NeighbourTimes {
        var times = NeighbourTimes()
        while condition() || times.count < 20 {
            // More pages than the daemon prepares.
            count = count % 60 + 20
            var start = ContinuousClock.now
            _ = try await local.page("", cursor: "", count: count)
            times.local.append(.now - start)
            start = .now
            _ = try await plugin.refresh("")
            times.plugin.append(.now - start)
            try await ContinuousClock().sleep(for: .milliseconds(5))
        }
        return times
    }

    func stop() async throws {
        // A plugin that is disabled floods nothing.
        for flood in floods {
            let path = ServiceName.providers.appending("flood_\(flood)")
            let state = try await client.service.provider(path).properties()["State"]
            #expect(state == .string("ready"), "\(flood)")
        }
        kill(id, SIGTERM)
        #expect(try await daemon.process.exitStatus() == .code(0))
    }
}

/// The durations of calls to the accounts that are measured.
private struct NeighbourTimes: CustomStringConvertible {
    var local: [Duration] = []
    var plugin: [Duration] = []

    var count: Int { local.count }

    /// The median shows a daemon that is slow, the mean one that stops for a while.
    ///
    /// - Parameters:
    ///   - alone: The times without a flood.
    ///   - factor: The factor by which the times may be longer.
    ///   - meanFactor: The additional factor for the mean of the calls of the other plugin.
    /// - Returns: True if no call is delayed by a flood.
    func isWithinLimit(
        _ alone: NeighbourTimes, _ factor: Double, _ meanFactor: Double
    ) -> Bool {
        local.median <= alone.local.median * factor && local.mean <= alone.local.mean * factor
            && plugin.median <= alone.plugin.median * factor
            && plugin.mean <= alone.plugin.mean * factor * meanFactor
    }

    var description: String {
        [local, plugin].map { times in
            [times.median, times.mean, times.max() ?? .zero]
                .map { "\(Double(Int($0 / .microseconds(10))) / 100)" }.joined(separator: "/")
        }.joined(separator: " ") + " ms, \(count) calls"
    }
}

extension [Duration] {
    var median: Duration { sorted()[count / 2] }
    var mean: Duration { reduce(.zero, +) / count }
}
