internal import Glibc
internal import Testing

/// The extent of the simulations: `dist/development/simulate` runs many histories, the tests run few.
public enum Simulation {
    /// The seeds of the histories to run.
    ///
    /// To repeat a failing history, set `IMAGEFEED_SEED=SEED IMAGEFEED_HISTORIES=1`.
    ///
    /// - Parameters:
    ///   - count: The number of histories when `IMAGEFEED_HISTORIES` is not set.
    ///   - share: The divisor of `IMAGEFEED_HISTORIES`, for histories that take longer than others.
    /// - Returns: One seed per history, beginning with `IMAGEFEED_SEED`, else with 1.
    public static func seeds(_ count: Int, share: UInt64 = 1) -> Range<UInt64> {
        let first = seed
        let wanted = number("IMAGEFEED_HISTORIES").map { max(1, $0 / share) }
        return first..<first + (wanted ?? UInt64(count))
    }

    /// Runs histories until three have failed, and records the failures.
    ///
    /// - Parameters:
    ///   - count: The number of histories when `IMAGEFEED_HISTORIES` is not set.
    ///   - share: The divisor of `IMAGEFEED_HISTORIES`, for histories that take longer than others.
    ///   - run: Runs the history of a seed, and returns the description of its failure.
    package static func run(
        _ count: Int, share: UInt64 = 1, _ run: (UInt64) async -> String?
    ) async {
        var failures: [String] = []
        for seed in seeds(count, share: share) where failures.count < 3 {
            if let failure = await run(seed) { failures.append(failure) }
            // Other tests run on the same threads.
            await Task.yield()
        }
        #expect(failures == [], "\(failures.joined(separator: "\n\n"))")
    }

    /// The seed of tests with random inputs: `IMAGEFEED_SEED`, else 1.
    public static var seed: UInt64 { number("IMAGEFEED_SEED") ?? 1 }

    private static func number(_ variable: String) -> UInt64? {
        getenv(variable).flatMap { UInt64(String(cString: $0)) }
    }
}

/// A guarantee that a history violates.
package struct Violation: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Checks a guarantee of a history.
///
/// - Throws: ``Violation`` with the description if it does not hold.
package func ensure(
    _ isKept: Bool, _ description: @autoclosure () -> String
) throws(Violation) {
    guard isKept else { throw Violation(description()) }
}
