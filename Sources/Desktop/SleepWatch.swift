internal import DBus

/// An observer of the resume of the machine, as reported by logind.
///
/// Source: org.freedesktop.login1(5), `PrepareForSleep`.
final class SleepWatch {
    private var subscription: SignalSubscription?

    /// Subscribes to the signal of logind.
    ///
    /// - Parameters:
    ///   - bus: The system bus.
    ///   - onResume: Called after a resume.
    /// - Throws: `BusError`.
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
