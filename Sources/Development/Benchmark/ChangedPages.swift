internal import Contract
internal import DBus

/// The duration of the `GetPage` call that a widget makes after the signal of a changed photo.
///
/// The reference is a ping after the same pause, because processors reduce their clock in a pause.
final class ChangedPages {
    private static let rounds = 40

    private let connection: BusConnection
    private let process: ProcessFigures
    private let account: ObjectPath
    private let folder: ScratchFolder

    init(
        _ fixture: DaemonFixture, _ process: ProcessFigures, _ account: ObjectPath,
        _ folder: ScratchFolder
    ) {
        connection = fixture.connection
        self.process = process
        self.account = account
        self.folder = folder
    }

    func measure() async throws -> [Table.Row] {
        let (updates, continuation) = AsyncStream<Void>.makeStream()
        let rule = MatchRule(
            sender: ServiceName.bus, path: account, interface: .feed, member: "Updated",
            argument0: "all")
        let subscription = try await connection.subscribe(rule) { _ in continuation.yield() }
        var update = updates.makeAsyncIterator()
        var pings: [Duration] = []
        var pages: [Duration] = []
        var processorTime = Duration.zero
        for round in -2..<Self.rounds {
            // Subscribes to the page that changes.
            _ = try await connection.time(.page(30, of: account))
            try await Task.sleep(for: .milliseconds(200))
            let ping = try await connection.time(.ping())
            try folder.touchPhoto()
            _ = await update.next()
            let before = try process.processorTime()
            let page = try await connection.time(.page(30, of: account))
            try await Task.sleep(for: .milliseconds(50))
            // The first rounds are a warm-up.
            guard round >= 0 else { continue }
            pings.append(ping)
            pages.append(page)
            processorTime += try process.processorTime() - before
        }
        withExtendedLifetime(subscription) {}
        let unit = pings.median
        return [
            Table.Row("Peer.Ping after a pause, p50", microseconds(unit), ratio: "1.00"),
            Table.Row(
                "GetPage, 30 photos, a change, p50", microseconds(pages.median),
                ratio: fixed(pages.median / unit, digits: 2),
                processor: microseconds(processorTime / pages.count)),
        ]
    }
}
