/// The increasing pauses between the attempts of something that fails.
///
/// This type only decides; its owner has the clock and makes the attempts.
package struct Backoff: Sendable {
    /// The pause after the first failure that is not tolerated.
    private let first: Duration
    /// The factor of each further pause.
    private let factor: Int
    private let longest: Duration
    /// The number of failures that cause no pause.
    private let tolerance: Int
    /// The number of failures since the last success.
    package private(set) var failures = 0

    package init(first: Duration, factor: Int, longest: Duration, tolerance: Int = 0) {
        self.first = first
        self.factor = factor
        self.longest = longest
        self.tolerance = tolerance
    }

    package mutating func recordFailure() { failures += 1 }
    package mutating func recordSuccess() { failures = 0 }

    /// The pause before the next attempt; zero without failures.
    package var pause: Duration {
        guard failures > tolerance else { return .zero }
        var pause = first
        for _ in 1..<failures - tolerance where pause < longest { pause *= factor }
        return min(pause, longest)
    }

    /// Returns the pause, longer or shorter by up to a fifth, so that not all owners retry at the same time.
    ///
    /// - Parameter jitter: A random number from 0 to 1.
    /// - Returns: The pause.
    package func pause(jitter: Double) -> Duration { pause * (1 + 0.4 * (jitter - 0.5)) }
}
