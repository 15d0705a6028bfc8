internal import Glibc
internal import Logging
internal import UnsplashSimulator

/// The benchmark of plugins: the idle process, the first call, later calls, and floods.
enum PluginBenchmark {
    static func run(_ options: Options, _ plugin: String) async throws {
        signal(SIGPIPE, SIG_IGN)
        let folder = try ScratchFolder(photos: 1)
        let service = try SimulatedUnsplash.start()
        let plugins = try folder.addPlugins(swift: plugin, manifest: service.pluginManifest())
        complain("Measuring the calls")
        let calls = try await PluginCalls(plugins, service).measure()
        let floods = try await PluginFloods().measure(options.daemon)
        complain("Measuring \(options.idleSeconds) s of rest beside idle plugins")
        let bus = try PrivateBus(environment: folder.environment)
        let fixture = try await DaemonFixture(options.daemon, bus)
        try await fixture.start()
        let process = ProcessFigures(fixture.id)
        let idle = try await Idle.measure(process, seconds: options.idleSeconds)
        let rows =
            calls + floods + [
                Table.Row(
                    "Processes of plugins at rest", "\(try process.childCount())", processor: "0")
            ] + idle.rows
        let head = Table.Row("Measured", "p50", ratio: "p95", processor: "At most")
        print(Table(head: head, rows: rows).text)
    }
}

extension Logger {
    /// A logger that discards its messages.
    nonisolated static var silent: Logger {
        Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }
    }
}
