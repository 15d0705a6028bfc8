internal import Contract
internal import DBus
internal import Glibc

/// Measures the time from a call that activates a service to its reply, with the program in the page cache.
///
/// The daemon and a bare service alternate, because the load of the machine varies.
final class Activation {
    private static let rounds = 20
    private static let reference: BusName = "org.imagefeed.Reference"

    private let connection: BusConnection
    private let hasReference: Bool

    /// - Parameters:
    ///   - fixture: A fixture whose bus can start both services and whose daemon does not run.
    ///   - hasReference: True to measure the bare service as well.
    init(_ fixture: DaemonFixture, hasReference: Bool) {
        connection = fixture.connection
        self.hasReference = hasReference
    }

    func measure() async throws -> [Table.Row] {
        var (daemon, bare): ([Duration], [Duration]) = ([], [])
        for round in -2..<Self.rounds {
            let time = try await measure(ServiceName.bus) { try .objects() }
            if round >= 0 { daemon.append(time) }
            guard hasReference else { continue }
            let unit = try await measure(Self.reference) {
                try BusMessage(
                    .methodCall(Self.reference, "/", "org.imagefeed.Reference", "Hello"))
            }
            if round >= 0 { bare.append(unit) }
        }
        var rows = [
            Table.Row("Activation of the daemon, p50", milliseconds(daemon.median, digits: 2))
        ]
        if hasReference {
            rows += [
                Table.Row(
                    "Activation of a bare service, p50", milliseconds(bare.median, digits: 2)),
                Table.Row("Activation, ratio", fixed(daemon.median / bare.median, digits: 2)),
            ]
        }
        return rows
    }

    /// Measures one activation and ends the service.
    private func measure(_ name: BusName, _ call: () throws -> BusMessage) async throws -> Duration
    {
        let time = try await connection.time(call())
        // Excludes the work after the reply from the next start.
        try await Task.sleep(for: .milliseconds(200))
        let (owners, continuation) = AsyncStream<Bool>.makeStream()
        let watch = try await connection.watchOwner(of: name) { continuation.yield($0 != nil) }
        let id: UInt32 = try await connection.call(
            .methodCall(
                .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixProcessID"),
            name.text)
        kill(Int32(id), SIGTERM)
        for await isOwned in owners where !isOwned { break }
        withExtendedLifetime(watch) {}
        try await Task.sleep(for: .milliseconds(100))
        return time
    }
}
