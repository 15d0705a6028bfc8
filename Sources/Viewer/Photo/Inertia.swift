internal import Glibc

/// The movement of a photo after it was released while it was dragged.
nonisolated struct Inertia {
    private var lastX = 0.0
    private var lastY = 0.0
    private var lastTime = 0.0
    /// The speed in units per second.
    private(set) var speedX = 0.0
    private var speedY = 0.0

    /// The time after which the speed has fallen to a third, in seconds.
    private static let decay = 0.25

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
        if interval > 0 {
            let weight = min(1, interval / 0.04)
            speedX += ((x - lastX) / interval - speedX) * weight
            speedY += ((y - lastY) / interval - speedY) * weight
        }
        lastX = x
        lastY = y
        lastTime = time
    }

    /// Ends the drag. A pointer that rested before its release has no speed.
    mutating func release(time: Double) {
        if time - lastTime > 0.08 {
            speedX = 0
            speedY = 0
        }
        lastTime = time
    }

    /// Begins the movement after the release, whose clock may differ from that of the drag.
    mutating func beginGlide(time: Double) { lastTime = time }

    /// Returns the movement since the last call; nil if it has come to rest.
    mutating func step(time: Double) -> (x: Double, y: Double)? {
        let interval = min(max(0, time - lastTime), 0.1)
        lastTime = time
        guard hypot(speedX, speedY) > 20 else { return nil }
        let movement = (speedX * interval, speedY * interval)
        let factor = exp(-interval / Self.decay)
        speedX *= factor
        speedY *= factor
        return movement
    }
}
