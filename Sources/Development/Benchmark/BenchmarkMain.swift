internal import Contract
internal import DBus
internal import Dispatch
internal import Glibc
internal import System

@main
enum BenchmarkMain {
    static func main() {
        // The same main loop as in the daemon.
        MainLoop.use()
        Task { await measure() }
        MainLoop.run()
    }

    private static func measure() async -> Never {
        guard let options = Options(CommandLine.arguments.dropFirst()) else {
            complain(Options.usage)
            exit(EX_USAGE)
        }
        let signals = [SIGINT, SIGTERM, SIGHUP].map(endOnSignal)
        var status = EXIT_SUCCESS
        do {
            if let plugin = options.plugin {
                try await PluginBenchmark.run(options, plugin)
            } else if options.isLibrary {
                try await LibraryBenchmark.run(options)
            } else {
                try await run(options)
            }
        } catch {
            complain("Benchmark: \(error)")
            status = EXIT_FAILURE
        }
        withExtendedLifetime(signals) {}
        cleanUp()
        exit(status)
    }

    private static let manyCalls = 100_000

    private static func run(_ options: Options) async throws {
        let folder = try ScratchFolder(photos: options.photos)
        complain("Creating \(options.photos) photos")
        try folder.addPhotos()
        try folder.addService(ServiceName.bus.text, program: options.daemon)
        if let reference = options.reference {
            try folder.addService("org.imagefeed.Reference", program: reference)
        }
        let bus = try PrivateBus(environment: folder.environment)
        let fixture = try await DaemonFixture(options.daemon, bus)
        complain("Registering \(options.users) users and indexing the photos")
        try await fixture.start()
        let account = try await fixture.addUsers(options.users, photos: options.photos)
        complain("Waiting until the metadata of all photos is read")
        try await Idle.begins(ProcessFigures(fixture.id))
        complain("Measuring the start-up")
        let startUp = try await StartUp.measure(fixture)
        try await fixture.stop()
        let activation = try await Activation(fixture, hasReference: options.reference != nil)
            .measure()
        try await fixture.start()
        let process = ProcessFigures(fixture.id)
        try await Idle.begins(process)
        sync()
        let fresh = try process.memory()
        complain("Measuring the calls")
        let calls =
            try await Calls(fixture, process, account).measure()
            + ChangedPages(fixture, process, account, folder).measure()
        complain("Making \(manyCalls) calls")
        try await ManyCalls(fixture, account).make(manyCalls)
        try await Idle.begins(process)
        sync()
        let used = try process.memory()
        complain("Measuring \(options.idleSeconds) s of idle time")
        let idle = try await Idle.measure(process, seconds: options.idleSeconds)
        let rows =
            startUp.rows + activation + calls + fresh.rows("started") + used.rows("after the calls")
            + idle.rows
        print(Table(rows: rows).text)
    }

    private static func endOnSignal(_ number: Int32) -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
        source.setEventHandler {
            MainActor.assumeIsolated { cleanUp() }
            exit(128 + number)
        }
        source.activate()
        return source
    }

    /// Ends the daemon before its bus, and both before their folder is removed.
    private static func cleanUp() {
        ChildProcess.endAll()
        ScratchFolder.removeAll()
    }
}

func complain(_ line: String) {
    var line = line + "\n"
    line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
