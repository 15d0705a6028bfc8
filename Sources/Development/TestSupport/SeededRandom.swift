internal import Glibc

/// A random number generator that returns the same numbers for the same seed.
///
/// Source: SplitMix64, Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }
}

/// The extent of the simulations: `dist/simulate` runs many histories, the tests run few.
public enum Simulation {
    /// The seeds of the histories to run.
    ///
    /// A failing history is repeated with `IMAGEFEED_SEED=SEED IMAGEFEED_HISTORIES=1`.
    ///
    /// - Parameters:
    ///   - count: The number of histories when `IMAGEFEED_HISTORIES` is not set.
    ///   - share: The divisor of `IMAGEFEED_HISTORIES`, for histories that take longer than others.
    /// - Returns: One seed per history, beginning with `IMAGEFEED_SEED`, else with 1.
    public static func seeds(_ count: Int, share: UInt64 = 1) -> Range<UInt64> {
        let first = number("IMAGEFEED_SEED") ?? 1
        let wanted = number("IMAGEFEED_HISTORIES").map { max(1, $0 / share) }
        return first..<first + (wanted ?? UInt64(count))
    }

    private static func number(_ variable: String) -> UInt64? {
        getenv(variable).flatMap { UInt64(String(cString: $0)) }
    }
}
