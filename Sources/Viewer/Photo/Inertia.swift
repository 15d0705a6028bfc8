/// The movement of a photo after it was released while it was dragged.
nonisolated struct Inertia {
    private var last = SIMD2<Double>.zero
    private var lastTime = 0.0
    /// The speed in units per second.
    private(set) var speed = SIMD2<Double>.zero

    /// Begins a drag.
    ///
    /// On a busy machine, GTK joins all movements of a quick drag into one, whose speed is that since the press.
    mutating func begin(time: Double) {
        self = Inertia()
        lastTime = time
    }

    /// Records the distance from the start of the drag.
    mutating func move(x: Double, y: Double, time: Double) {
        let interval = time - lastTime
        let position = SIMD2(x, y)
        if interval > 0 {
            let weight = min(1, interval / 0.04)
            speed += ((position - last) / interval - speed) * weight
        }
        last = position
        lastTime = time
    }

    /// Ends the drag. A pointer that rested before its release has no speed.
    mutating func release(time: Double) {
        if time - lastTime > 0.08 { speed = .zero }
    }
}
