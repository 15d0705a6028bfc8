import Testing

@testable import Viewer

@Suite struct InertiaTests {
    @Test func `a released photo slows down and comes to rest`() {
        var inertia = Inertia()
        inertia.begin(time: 0.98)
        for step in 0..<10 {
            inertia.move(x: Double(step) * 20, y: 0, time: 1 + Double(step) * 0.02)
        }
        inertia.release(time: 1.18)
        var movements: [Double] = []
        var time = 1.18
        while let movement = inertia.step(time: time + 0.016) {
            time += 0.016
            movements.append(movement.x)
            #expect(movement.y == 0)
            #expect(movements.count < 1000)
            guard movements.count < 1000 else { return }
        }
        #expect(movements.count > 10)
        #expect(zip(movements, movements.dropFirst()).allSatisfy { $0 > $1 })
    }

    @Test func `movements that were joined into one have a speed`() throws {
        var inertia = Inertia()
        inertia.begin(time: 1)
        inertia.move(x: 100, y: 0, time: 1.02)
        inertia.release(time: 1.02)
        let movement = inertia.step(time: 1.036)
        #expect(movement.map { $0.x > 0 } == true)
    }

    @Test func `a pointer that rested before its release does not move the photo`() {
        var inertia = Inertia()
        inertia.begin(time: 0.98)
        for step in 0..<10 {
            inertia.move(x: Double(step) * 20, y: 0, time: 1 + Double(step) * 0.02)
        }
        inertia.release(time: 2)
        #expect(inertia.step(time: 2.016) == nil)
    }
}
