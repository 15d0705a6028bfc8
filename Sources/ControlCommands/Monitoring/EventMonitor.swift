internal import Contract
internal import DBus

/// A monitor of the daemon's D-Bus signals and of its starts and ends.
@MainActor
final class EventMonitor {
    private let report: (MonitorEvent) throws -> Void
    /// The number of events after which the monitor ends; nil for no limit.
    private var remaining: Int?
    private var owner: BusName?
    private var end: CheckedContinuation<Void, any Error>?
    private var result: Result<Void, any Error>?

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
        let watch = SignalWatch { [weak self] in self?.finish(.success(())) }
        let connection = try BusConnection.session()
        connection.onDisconnect = { [weak self] in self?.finish(.failure(BusError.disconnected)) }
        let events = try await connection.subscribe(
            MatchRule(sender: ServiceName.bus, pathNamespace: ServiceName.root)
        ) { [weak self] signal in self?.emit(MonitorEvent.events(in: signal)) }
        owner = try await connection.owner(of: ServiceName.bus)
        let owners = try await connection.watchOwner(of: ServiceName.bus) { [weak self] owner in
            self?.setOwner(owner)
        }
        // The daemon may have started or ended before the subscription was active.
        let present = try await connection.owner(of: ServiceName.bus)
        if present == nil {
            owner = nil
            emit([.daemonGone])
        } else {
            setOwner(present)
        }
        try await withCheckedThrowingContinuation { continuation in
            end = continuation
            if let result { finish(result) }
        }
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
            for event in events where result == nil {
                try report(event)
                guard let count = remaining else { continue }
                remaining = count - 1
                if count == 1 { finish(.success(())) }
            }
        } catch {
            finish(.failure(error))
        }
    }

    private func finish(_ result: Result<Void, any Error>) {
        self.result = self.result ?? result
        end?.resume(with: result)
        end = nil
    }
}
