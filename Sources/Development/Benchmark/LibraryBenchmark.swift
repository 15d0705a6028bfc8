internal import Contract
internal import DBus
internal import Glibc
internal import ProviderKit

/// The cost of scans of a large pictures folder, and of changes in it.
///
/// A second client calls the daemon meanwhile; its slowest call shows for how long the main thread of the daemon was busy.
/// Its calls to the bus show the load of the machine.
final class LibraryBenchmark {
    private static let moved = "Moved"

    private let fixture: DaemonFixture
    private let folder: ScratchFolder
    private let photos: Int
    private var account = ObjectPath.root
    private var rows: [Table.Row] = []

    private init(_ fixture: DaemonFixture, _ folder: ScratchFolder, _ photos: Int) {
        self.fixture = fixture
        self.folder = folder
        self.photos = photos
    }

    static func run(_ options: Options) async throws {
        let folder = try ScratchFolder(photos: options.photos)
        complain("Creating \(options.photos) photos")
        try folder.addPhotos()
        let bus = try PrivateBus(environment: folder.environment)
        let fixture = try await DaemonFixture(options.daemon, bus)
        let benchmark = LibraryBenchmark(fixture, folder, options.photos)
        try await benchmark.measure()
        var table = Table(rows: benchmark.rows)
        table.head = Table.Row(
            "\(options.photos) photos", "Time", ratio: "Slowest call", processor: "Daemon CPU")
        print(table.text)
    }

    private func measure() async throws {
        try await fixture.start()
        var firstPage = Duration.zero
        try await step("First scan", thenMemory: true) {
            let start = ContinuousClock.now
            let login = try await fixture.service.startLogin(
                "local", [.username: .string("ada"), .register: .bool(true)])
            account = try await fixture.service.login(login).wait()
            try await becomeReady()
            firstPage = ContinuousClock.now - start
            try await become { try await count() == photos }
        }
        rows.insert(Table.Row("Login to the first page", milliseconds(firstPage)), at: 0)
        try await fixture.stop()
        try await step("Restart to the first page", thenMemory: true) {
            try await fixture.start()
            try await becomeReady()
        }
        try await step("One touched file") { try await touch() }
        let slideshow = fixture.service.slideshow
        try await slideshow.setShuffle(true)
        try await slideshow.attach()
        try await Idle.begins(ProcessFigures(fixture.id))
        try await step("One touched file, shuffle", thenMemory: true) { try await touch() }
        try await step("A folder renamed", thenMemory: true) {
            try folder.renameFolder(0, to: Self.moved)
            try await become { try await count(in: "\(Self.moved) 0") == folder.count(in: 0) }
        }
        try await step("All folders moved", thenMemory: true) {
            try folder.moveAll(to: Self.moved)
            let last = ScratchFolder.folders - 1
            try await become {
                try await count(in: "\(Self.moved)/Album \(last)") == folder.count(in: last)
            }
        }
    }

    // MARK: Steps

    /// Measures an action and the work of the daemon after it.
    private func step(
        _ name: String, thenMemory: Bool = false, _ action: () async throws -> Void
    ) async throws {
        let calls = Task { await SecondClient(fixture.connection).callUntilCancelled() }
        let id = fixture.id
        // The daemon may not run yet.
        let before = (try? ProcessFigures(id).processorTime()) ?? .zero
        let start = ContinuousClock.now
        try await action()
        let time = ContinuousClock.now - start
        let process = ProcessFigures(fixture.id)
        try await becomeQuiet(process)
        calls.cancel()
        let slowest = await calls.value
        let processorTime = try process.processorTime() - (fixture.id == id ? before : .zero)
        sync()
        add(
            Table.Row(
                name, milliseconds(time), ratio: milliseconds(slowest.daemon),
                processor: milliseconds(processorTime)))
        add(Table.Row("  calls to the bus", "", ratio: milliseconds(slowest.bus)))
        if thenMemory {
            add(Table.Row("  private memory", "\(try process.memory().privateDirty) KiB"))
        }
    }

    /// Adds a row, and shows it, because the next one may take minutes.
    private func add(_ row: Table.Row) {
        rows.append(row)
        complain("\(row.name) \(row.value) \(row.ratio) \(row.processor)")
    }

    /// Waits until the daemon does little more than to reply to the second client.
    private func becomeQuiet(_ process: ProcessFigures) async throws {
        var before = try process.processorTime()
        while true {
            try await Task.sleep(for: .seconds(2))
            let now = try process.processorTime()
            guard now - before > .milliseconds(100) else { return }
            before = now
        }
    }

    private func touch() async throws {
        let (updates, continuation) = AsyncStream<Void>.makeStream()
        let rule = MatchRule(
            sender: ServiceName.bus, path: account, interface: .feed, member: "Updated",
            argument0: "all")
        let subscription = try await fixture.connection.subscribe(rule) { _ in
            continuation.yield()
        }
        try folder.touchPhoto()
        var update = updates.makeAsyncIterator()
        _ = await update.next()
        withExtendedLifetime(subscription) {}
    }

    private func become(_ condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(900)
        while try await !condition() {
            guard ContinuousClock.now < deadline else {
                throw BenchmarkError("the daemon does not find the photos")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Waits until the first page has photos.
    private func becomeReady() async throws {
        let client = fixture.service.account(account)
        while try await client.page("", cursor: "", count: 30).photos.isEmpty {
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Returns the number of photos in an album, or in all photos.
    private func count(in album: String? = nil) async throws -> Int {
        let sources = try await fixture.service.account(account).sources()
        let id = album.map { "album:\($0)" } ?? "all"
        let source = sources.first { $0.id.text == id }
        return source?.count ?? 0
    }
}

/// A client that calls the daemon, and the bus, in short intervals.
private final class SecondClient {
    struct Slowest {
        var daemon = Duration.zero
        var bus = Duration.zero
    }

    private let connection: BusConnection

    init(_ connection: BusConnection) { self.connection = connection }

    func callUntilCancelled() async -> Slowest {
        var slowest = Slowest()
        while !Task.isCancelled {
            // There is no reply while the daemon is restarted, and none to a cancelled call.
            if let time = try? await connection.time(.ping(ServiceName.bus)) {
                slowest.daemon = max(slowest.daemon, time)
            }
            if let time = try? await connection.time(.ping()) {
                slowest.bus = max(slowest.bus, time)
            }
            try? await Task.sleep(for: .milliseconds(4))
        }
        return slowest
    }
}
