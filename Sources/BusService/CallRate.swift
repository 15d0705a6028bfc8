internal import DBus

/// A limit on the rate of calls per client: a burst of calls, then one call per interval.
nonisolated struct CallRate {
    /// The number of calls that a client may make at once.
    let burst: Int
    /// The time after which a client may make one more call.
    let interval: Duration

    /// The time from which each client can make a full burst again. Clients whose time has passed may be removed.
    private var recoveries: [BusName?: ContinuousClock.Instant] = [:]

    /// - Parameters:
    ///   - burst: The number of calls that a client may make at once.
    ///   - interval: The time after which a client may make one more call.
    init(burst: Int, interval: Duration) {
        self.burst = burst
        self.interval = interval
    }

    /// Counts a call, if the client may make it.
    ///
    /// - Parameters:
    ///   - client: The unique name of the caller.
    ///   - now: The current time.
    /// - Returns: False if the client makes too many calls.
    mutating func allows(_ client: BusName?, at now: ContinuousClock.Instant = .now) -> Bool {
        let recovery = max(recoveries[client] ?? now, now) + interval
        guard recovery - now <= interval * burst else { return false }
        // Unique names are never reused, so entries of past times can be removed.
        if recoveries.count >= 64 { recoveries = recoveries.filter { $0.value > now } }
        recoveries[client] = recovery
        return true
    }
}
