import Testing

@testable import Viewer

@Suite struct SwipeTests {
    /// Moves a photo in steps of 20 ms, and releases it.
    ///
    /// - Parameters:
    ///   - distances: The distance from the start after each step.
    ///   - y: The vertical distance.
    ///   - rest: The time between the last step and the release.
    /// - Returns: The distance of the photo before the release, and the result of the release.
    private func swipe(
        _ distances: [Double], y: Double = 0, rest: Double = 0
    ) -> (offset: Double, step: Int) {
        var swipe = Swipe()
        var time = 1.0
        swipe.begin(time: time)
        for distance in distances {
            time += 0.02
            swipe.move(x: distance, y: y, time: time)
        }
        return (swipe.offset, swipe.release(width: 1000, time: time + rest))
    }

    private func steps(to distance: Double, count: Int) -> [Double] {
        (1...count).map { distance * Double($0) / Double(count) }
    }

    @Test(arguments: [(-300.0, 1), (300.0, -1), (-200.0, 0), (200.0, 0)])
    func `the distance decides about a slow swipe`(distance: Double, expected: Int) {
        #expect(swipe(steps(to: distance, count: 100), rest: 0.5) == (distance, expected))
    }

    @Test(arguments: [(-120.0, 1), (120.0, -1)])
    func `a fast swipe needs no distance`(distance: Double, expected: Int) {
        #expect(swipe(steps(to: distance, count: 5)).step == expected)
    }

    @Test func `a fast movement back cancels a swipe`() {
        let back: [Double] = [-470, -440, -410, -380, -350, -320]
        #expect(swipe(steps(to: -500, count: 10) + back).step == 0)
    }

    @Test func `a vertical movement does not move the photo`() {
        #expect(swipe(steps(to: 400, count: 20), y: 300) == (0, 0))
    }

    @Test func `a second finger cancels a swipe`() {
        var swipe = Swipe()
        swipe.begin(time: 1)
        for step in 1...20 {
            swipe.move(x: Double(step) * 20, y: 0, time: 1 + Double(step) * 0.02)
        }
        #expect(swipe.offset == 400)
        swipe.cancel()
        #expect(swipe.offset == 0)
        swipe.move(x: 500, y: 0, time: 1.42)
        #expect(swipe.offset == 0)
        let step = swipe.release(width: 1000, time: 1.44)
        #expect(step == 0)
    }
}
