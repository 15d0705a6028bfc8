internal import Logging
package import ProviderKit

extension SessionPorts {
    /// Creates ports with a logger for tests.
    package init(_ http: any HTTPClient, _ settings: ProviderSettings = ProviderSettings()) {
        self.init(http: http, settings: settings, logger: Logger(label: "test"))
    }

    /// Returns the ports with another clock.
    package func at(_ now: @escaping @Sendable () -> Timestamp) -> SessionPorts {
        var ports = self
        ports.now = now
        return ports
    }
}

extension Session {
    /// Closes the session and returns its events.
    package func finalEvents() async -> [SessionEvent] {
        close()
        return await events.reduce(into: []) { $0.append($1) }
    }

    /// Closes the session and returns the status in its first event; nil for another event.
    package func firstStatus() async -> SessionStatus? {
        if case .status(let status) = await finalEvents().first { status } else { nil }
    }

    /// Closes the session and returns the rate limit in its last event; nil for another event.
    package func lastLimit() async -> RateLimit? {
        if case .rateLimit(let limit) = await finalEvents().last { limit } else { nil }
    }

    /// Closes the session and returns the sentences of each of its notices.
    package func finalNotices() async -> [[String]] {
        await finalEvents().compactMap { event in
            if case .notices(let sentences) = event { sentences } else { nil }
        }
    }
}
