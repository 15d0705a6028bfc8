import Testing

@testable import Viewer

@Suite struct SwipeTests {
    private static let width = 1000.0

    /// Moves a photo in steps of 20 ms.
    ///
    /// - Returns: The movement after its last step, and the time of this step.
    private func swipe(_ distances: [Double], y: Double = 0) -> (swipe: Swipe, time: Double) {
        var swipe = Swipe()
        var time = 1.0
        swipe.begin(time: time)
        for distance in distances {
            time += 0.02
            swipe.move(x: distance, y: y, time: time)
        }
        return (swipe, time)
    }

    private func steps(to distance: Double, count: Int) -> [Double] {
        (1...count).map { distance * Double($0) / Double(count) }
    }

    @Test(arguments: [(-300.0, 1), (300.0, -1), (-200.0, 0), (200.0, 0)])
    func `the distance decides about a slow swipe`(distance: Double, expected: Int) {
        var (swipe, time) = swipe(steps(to: distance, count: 100))
        #expect(swipe.offset == distance)
        // The finger rests before the release.
        let step = swipe.release(width: Self.width, time: time + 0.5)
        #expect(step == expected)
    }

    @Test(arguments: [(-120.0, 1), (120.0, -1)])
    func `a fast swipe needs no distance`(distance: Double, expected: Int) {
        var (swipe, time) = swipe(steps(to: distance, count: 5))
        let step = swipe.release(width: Self.width, time: time)
        #expect(step == expected)
    }

    @Test func `a fast movement back cancels a swipe`() {
        var (swipe, time) = swipe(
            steps(to: -500, count: 10) + [-470, -440, -410, -380, -350, -320])
        let step = swipe.release(width: Self.width, time: time)
        #expect(step == 0)
    }

    @Test func `a vertical movement does not move the photo`() {
        var (swipe, time) = swipe(steps(to: 400, count: 20), y: 300)
        #expect(swipe.offset == 0)
        let step = swipe.release(width: Self.width, time: time)
        #expect(step == 0)
    }

    @Test func `a second finger cancels a swipe`() {
        var (swipe, time) = swipe(steps(to: 400, count: 20))
        swipe.cancel()
        #expect(swipe.offset == 0)
        swipe.move(x: 500, y: 0, time: time + 0.02)
        #expect(swipe.offset == 0)
        let step = swipe.release(width: Self.width, time: time + 0.04)
        #expect(step == 0)
    }
}
