internal import Synchronization

/// Reports each change of a service's rate limit.
package final class RateLimitReporter: Sendable {
    private let onChange: @Sendable (RateLimit) -> Void
    private let reported = Mutex<RateLimit?>(nil)

    package init(onChange: @escaping @Sendable (RateLimit) -> Void) { self.onChange = onChange }

    /// Reports the rate limit of a response, unless it equals the previous one.
    ///
    /// - Parameter limit: nil for a response that does not state it.
    package func report(_ limit: RateLimit?) {
        guard let limit else { return }
        let isNew = reported.withLock { reported in
            defer { reported = limit }
            return reported != limit
        }
        if isNew { onChange(limit) }
    }
}
