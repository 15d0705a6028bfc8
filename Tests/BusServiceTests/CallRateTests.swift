import Testing

@testable import BusService
@testable import DBus

@Suite struct CallRateTests {
    private let start = ContinuousClock.Instant.now

    /// Returns the number of allowed calls of a client at a time, up to ten.
    private func allowed(_ rate: inout CallRate, _ client: String, after time: Duration) -> Int {
        let name = BusName(unchecked: client)
        return (0..<10).count { _ in rate.allows(name, at: start + time) }
    }

    @Test(arguments: [
        (3, [0, 999, 1000, 1500, 2000], [3, 0, 1, 0, 1]), (2, [0, 10_000, 20_000], [2, 2, 2]),
    ])
    func `a client can make a burst of calls, then one per interval, and another after a pause`(
        burst: Int, milliseconds: [Int], expected: [Int]
    ) {
        var rate = CallRate(burst: burst, interval: .seconds(1))
        let counts = milliseconds.map { allowed(&rate, ":1.1", after: .milliseconds($0)) }
        #expect(counts == expected)
    }

    @Test func `the rate limit applies per client`() {
        var rate = CallRate(burst: 1, interval: .seconds(1))
        for _ in 1...2 {
            let counts = (1...1000).map { allowed(&rate, ":1.\($0)", after: .zero) }
            #expect(counts.reduce(0, +) == 1000 || counts.allSatisfy { $0 == 0 })
        }
        #expect(allowed(&rate, ":1.1", after: .seconds(1)) == 1)
    }
}
