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

    @Option(help: .tr("End after this number of events."))
    var count: Int?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError(tr("--count must be 1 or more.")) }
    }

    @MainActor func run() async throws {
        let output = output
        try await EventMonitor(limit: count) { event in try output.show(event) }.run()
    }
}

/// A monitor of the daemon's D-Bus signals and of its starts and ends.
@MainActor
final class EventMonitor {
    private let report: (MonitorEvent) throws -> Void
    /// The number of events after which the monitor ends; nil for no limit.
    private var remaining: Int?
    private var owner: BusName?
    private let end = OneShotResult<Void, any Error>()

    /// - Parameters:
    ///   - limit: The number of events to report, at least 1; nil for no limit.
    ///   - report: Called for each event; an error ends ``run()``.
    init(limit: Int? = nil, _ report: @escaping (MonitorEvent) throws -> Void) {
        remaining = limit
        self.report = report
    }

    /// Reports events until the limit, or until the program is interrupted with Ctrl-C, which is not an error.
    ///
    /// The monitor sends no message to the daemon, because the bus would start the daemon.
    ///
    /// - Throws: ``BusError/disconnected`` if the bus closes the connection, and the errors of `report`.
    func run() async throws {
        let watch = SignalWatch { [end] in end.complete(.success(())) }
        let connection = try BusConnection.session()
        connection.onDisconnect = { [end] in end.complete(.failure(BusError.disconnected)) }
        let events = try await connection.subscribe(
            MatchRule(sender: ServiceName.bus, pathNamespace: ServiceName.root)
        ) { [self] signal in emit(MonitorEvent.events(in: signal)) }
        owner = try await connection.owner(of: ServiceName.bus)
        let owners = try await connection.watchOwner(of: ServiceName.bus) { [self] owner in
            setOwner(owner)
        }
        // The daemon may have started or ended before the subscription was active.
        let present = try await connection.owner(of: ServiceName.bus)
        if present == nil {
            owner = nil
            emit([.daemonGone])
        } else {
            setOwner(present)
        }
        try await end.value()
        withExtendedLifetime((watch, connection, events, owners)) {}
    }

    private func setOwner(_ new: BusName?) {
        guard new != owner else { return }
        let events: [MonitorEvent] =
            (owner == nil ? [] : [.daemonGone]) + (new == nil ? [] : [.daemonBack])
        owner = new
        emit(events)
    }

    private func emit(_ events: [MonitorEvent]) {
        do {
            for event in events where !end.isComplete {
                try report(event)
                guard let count = remaining else { continue }
                remaining = count - 1
                if count == 1 { end.complete(.success(())) }
            }
        } catch {
            end.complete(.failure(error))
        }
    }
}
