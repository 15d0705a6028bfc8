internal import ServiceSimulator

/// The remaining requests of an application in the current hour.
struct RateBudget {
    private var used = 0
    private var start: Moment

    init(start: Moment) { self.start = start }

    func remaining(of limit: Int) -> Int { max(0, limit - used) }

    /// Uses one request.
    ///
    /// - Returns: False if none was left.
    mutating func take(of limit: Int, now: Moment) -> Bool {
        if now.secondsSince1970 - start.secondsSince1970 >= 3600 {
            start = now
            used = 0
        }
        guard used < limit else { return false }
        used += 1
        return true
    }

    /// Sets the remaining requests.
    mutating func leave(_ count: Int, of limit: Int) { used = limit - count }
}
