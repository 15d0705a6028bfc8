internal import ArgumentParser
internal import Contract
internal import DBus
internal import System
internal import Translation

struct MonitorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: tr("Print a line for each event until interrupted."),
        discussion: tr(
            """
            The command does not start the daemon: it waits for it, and continues after a restart. With \
            --json, each line is an object with the key “event”.
            """))

    @Option(parsing: .unconditional, help: .tr("End after this number of events."))
    var count: Int?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError(tr("--count must be 1 or more.")) }
    }

    /// Prints events until the limit, or until the program is interrupted with Ctrl-C, which is not an error.
    ///
    /// The command sends no message to the daemon, because the bus would start the daemon.
    @MainActor func run() async throws {
        Console.exitWithReader()
        let end = OneShotResult<Void, any Error>()
        var remaining = count
        let emit = { (events: [MonitorEvent]) in
            do {
                for event in events where !end.isComplete {
                    try output.show(event)
                    remaining = remaining.map { $0 - 1 }
                    if remaining == 0 { end.complete(.success(())) }
                }
            } catch {
                end.complete(.failure(error))
            }
        }
        let watch = SignalWatch { end.complete(.success(())) }
        let connection = try BusConnection.session()
        connection.onDisconnect = { end.complete(.failure(BusError.disconnected)) }
        let signals = try await connection.subscribe(
            MatchRule(sender: ServiceName.bus, pathNamespace: ServiceName.root)
        ) { emit(MonitorEvent.events(in: $0)) }
        var owner = try await connection.owner(of: ServiceName.bus)
        let setOwner = { (new: BusName?) in
            guard new != owner else { return }
            let events: [MonitorEvent] =
                (owner == nil ? [] : [.daemonGone]) + (new == nil ? [] : [.daemonBack])
            owner = new
            emit(events)
        }
        let owners = try await connection.watchOwner(of: ServiceName.bus, setOwner)
        // The daemon may have started or ended before the subscription was active.
        let present = try await connection.owner(of: ServiceName.bus)
        if present == nil {
            owner = nil
            emit([.daemonGone])
        } else {
            setOwner(present)
        }
        try await end.value()
        withExtendedLifetime((watch, connection, signals, owners)) {}
    }
}
