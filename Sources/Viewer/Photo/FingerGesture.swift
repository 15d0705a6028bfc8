/// A gesture with two fingers: their distance zooms, the point between them moves, their angle rotates.
///
/// This type only computes the transform; its owner receives the events.
nonisolated struct FingerGesture {
    private var lastFactor = 1.0
    private var last = SIMD2<Double>.zero
    private var lastAngle = 0.0
    /// The rotation of the fingers since the beginning in radians, clockwise.
    private var turned = 0.0
    private var isTurning = false

    /// The rotation of the fingers in radians below which the gesture is only a pinch.
    static let turnThreshold = 15 * Double.pi / 180

    /// Begins with the point between the fingers.
    mutating func begin(x: Double, y: Double) {
        lastFactor = 1
        last = SIMD2(x, y)
    }

    mutating func beginTurn() {
        lastAngle = 0
        turned = 0
        isTurning = false
    }

    /// Zooms around the point between the fingers, which the photo follows.
    ///
    /// - Parameters:
    ///   - transform: The transform to change. A photo that is being rotated is shown as a whole.
    ///   - factor: The distance of the fingers relative to the beginning.
    ///   - x: The point between the fingers.
    ///   - y: The point between the fingers.
    mutating func pinch(_ transform: inout PhotoTransform, factor: Double, x: Double, y: Double) {
        guard factor.isFinite, factor > 0 else { return }
        if !isTurning {
            transform.pan(x: x - last.x, y: y - last.y)
            transform.zoom(by: factor / lastFactor, aroundX: x, y: y)
        }
        lastFactor = factor
        last = SIMD2(x, y)
    }

    /// Rotates the photo by what exceeds the threshold.
    ///
    /// - Parameters:
    ///   - transform: The transform to change.
    ///   - angle: The angle since the beginning in radians. GTK passes an angle of 0 to 2π, so that a small rotation
    ///     counterclockwise is nearly 2π.
    mutating func turn(_ transform: inout PhotoTransform, angle: Double) {
        let old = excess
        // Less than half a turn lies between two events.
        turned += (angle - lastAngle).remainder(dividingBy: 2 * .pi)
        lastAngle = angle
        if turned.magnitude > Self.turnThreshold { isTurning = true }
        guard isTurning, excess != old else { return }
        transform.rotate(by: (excess - old) * 180 / .pi)
    }

    /// Ends the rotation at the nearest quarter.
    mutating func endTurn(_ transform: inout PhotoTransform) {
        if isTurning { transform.snapRotation() }
        beginTurn()
    }

    private var excess: Double {
        let excess = max(0, turned.magnitude - Self.turnThreshold)
        return turned < 0 ? -excess : excess
    }
}
