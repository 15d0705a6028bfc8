import Testing

@testable import Viewer

@Suite struct InertiaTests {
    /// A movement of 1,000 units per second.
    private func moved() -> Inertia {
        var inertia = Inertia()
        inertia.begin(time: 0.98)
        for step in 0..<10 {
            inertia.move(x: Double(step) * 20, y: 0, time: 1 + Double(step) * 0.02)
        }
        return inertia
    }

    @Test func `a released photo has the speed of the pointer`() {
        var inertia = moved()
        inertia.release(time: 1.18)
        #expect((inertia.speed.x - 1000).magnitude < 10)
        #expect(inertia.speed.y == 0)
    }

    @Test func `movements that were joined into one have a speed`() {
        var inertia = Inertia()
        inertia.begin(time: 1)
        inertia.move(x: 100, y: 0, time: 1.02)
        inertia.release(time: 1.02)
        #expect(inertia.speed.x > 0)
    }

    @Test func `a pointer that rested before its release does not move the photo`() {
        var inertia = moved()
        inertia.release(time: 2)
        #expect(inertia.speed == .zero)
    }
}
