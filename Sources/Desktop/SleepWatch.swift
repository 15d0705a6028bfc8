internal import DBus

/// Tells when the machine has slept, where logind says so.
///
/// Source: org.freedesktop.login1(5), `PrepareForSleep`.
final class SleepWatch {
    private var subscription: SignalSubscription?

    /// - Parameters:
    ///   - bus: The system bus.
    ///   - onResume: Called when it has woken up.
    /// - Throws: What the bus says.
    init(_ bus: BusConnection, onResume: @escaping () -> Void) async throws {
        subscription = try await bus.subscribe(
            MatchRule(
                sender: "org.freedesktop.login1", path: "/org/freedesktop/login1",
                interface: "org.freedesktop.login1.Manager", member: "PrepareForSleep")
        ) { signal in
            guard let isAboutToSleep: Bool = try? signal.read(), !isAboutToSleep else { return }
            onResume()
        }
    }
}
