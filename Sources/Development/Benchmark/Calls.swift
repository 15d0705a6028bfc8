internal import Contract
internal import DBus

/// The durations of calls, relative to a call to the bus.
///
/// Chunks of the kinds alternate, each after a chunk of pings, because the load of the machine varies.
final class Calls {
    private static let chunk = 25
    private static let rounds = 80

    private let connection: BusConnection
    private let process: ProcessFigures
    private let account: ObjectPath
    private var nextCount: UInt32 = 20

    init(_ fixture: DaemonFixture, _ process: ProcessFigures, _ account: ObjectPath) {
        connection = fixture.connection
        self.process = process
        self.account = account
    }

    private struct Kind {
        let name: String
        let message: () throws -> BusMessage
        var times: [Duration] = []
        var processorTime = Duration.zero
    }

    func measure() async throws -> [Table.Row] {
        var kinds = [
            Kind(name: "Properties.Get, State", message: state),
            Kind(name: "GetManagedObjects", message: { try .objects() }),
            Kind(name: "GetPage, 30 photos, prepared", message: preparedPage),
            Kind(name: "GetPage, 20-60 photos, other", message: otherPage),
        ]
        var pings: [Duration] = []
        for round in -2..<Self.rounds {
            for index in kinds.indices {
                // The prepared page may have been evicted by other pages.
                _ = try await connection.time(kinds[index].message())
                let before = try await pingUntilIdle()
                let times = try await chunk(kinds[index].message)
                // The daemon becomes idle during these pings of the bus.
                let after = try await pingUntilIdle()
                // The first rounds are a warm-up.
                guard round >= 0 else { continue }
                pings += before.times + after.times
                kinds[index].times += times
                kinds[index].processorTime += after.processorTime - before.processorTime
            }
        }
        let unit = pings.median
        return [Table.Row("Peer.Ping of the bus, p50", microseconds(unit), ratio: "1.00")]
            + kinds.map { kind in
                Table.Row(
                    kind.name + ", p50", microseconds(kind.times.median),
                    ratio: fixed(kind.times.median / unit, digits: 2),
                    processor: microseconds(kind.processorTime / kind.times.count))
            }
    }

    private func pingUntilIdle() async throws -> (times: [Duration], processorTime: Duration) {
        let times = try await chunk { try .ping() }
        return (times, try process.processorTime())
    }

    private func chunk(_ message: () throws -> BusMessage) async throws -> [Duration] {
        var times: [Duration] = []
        for _ in 0..<Self.chunk { times.append(try await connection.time(message())) }
        return times
    }

    // MARK: Kinds

    private func state() throws -> BusMessage { try .state(of: account) }

    private func preparedPage() throws -> BusMessage { try .page(30, of: account) }

    /// Returns a call for a page. Successive calls request more different pages than the daemon prepares.
    private func otherPage() throws -> BusMessage {
        nextCount = nextCount == 60 ? 20 : nextCount + 1
        return try .page(nextCount, of: account)
    }
}

extension BusConnection {
    /// Measures the time until the reply. The reply is not decoded, because decoding is work of the client.
    func time(_ message: BusMessage) async throws -> Duration {
        let start = ContinuousClock.now
        _ = try await call(message)
        return ContinuousClock.now - start
    }
}

extension BusMessage {
    /// A call without effect; to the bus, it is not received by the daemon.
    static func ping(_ name: BusName = "org.freedesktop.DBus") throws -> BusMessage {
        try BusMessage(
            .methodCall(
                name, "/org/freedesktop/DBus", "org.freedesktop.DBus.Peer",
                "Ping"))
    }

    /// A call for all objects with their properties.
    static func objects() throws -> BusMessage {
        try BusMessage(
            .methodCall(
                ServiceName.bus, ServiceName.root, "org.freedesktop.DBus.ObjectManager",
                "GetManagedObjects"))
    }

    /// A call for the state of an account.
    static func state(of account: ObjectPath) throws -> BusMessage {
        try BusMessage(
            .methodCall(ServiceName.bus, account, "org.freedesktop.DBus.Properties", "Get"),
            InterfaceName.account.text, "State")
    }

    /// A call for the newest photos.
    static func page(_ count: UInt32, of account: ObjectPath) throws -> BusMessage {
        try BusMessage(
            .methodCall(ServiceName.bus, account, .feed, "GetPage"), "", "", count)
    }
}
