internal import DBus

/// A fake logind on the bus of the running test, which announces that the machine sleeps and wakes.
@MainActor
package final class FakeLogind {
    private static let name: BusName = "org.freedesktop.login1"
    private let connection: BusConnection

    package init() async throws {
        connection = try PrivateBus.current.connect()
        _ = try await connection.requestName(Self.name, replacing: false) {}
    }

    /// Announces that the machine is about to sleep, or that it is awake again. The bus has sent the signal when this
    /// function returns.
    package func announceSleep(_ isAboutToSleep: Bool) async throws {
        connection.send(
            try BusMessage(
                .signal(
                    "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep"),
                isAboutToSleep))
        _ = try await connection.owner(of: Self.name)
    }
}
