internal import ServiceSimulator

/// How many requests an application has left in this hour.
struct RateBudget {
    private var used = 0
    private var start: Moment

    init(start: Moment) { self.start = start }

    func remaining(of limit: Int) -> Int { max(0, limit - used) }

    /// Takes one request.
    ///
    /// - Returns: Whether there was one left.
    mutating func take(of limit: Int, now: Moment) -> Bool {
        if now.secondsSince1970 - start.secondsSince1970 >= 3600 {
            start = now
            used = 0
        }
        guard used < limit else { return false }
        used += 1
        return true
    }

    /// Leaves only so many.
    mutating func leave(_ count: Int, of limit: Int) { used = limit - count }
}
