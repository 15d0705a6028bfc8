internal import Glibc

/// A horizontal movement of a whole photo, which shows the next or the previous one.
nonisolated struct Swipe {
    /// The distance of the photo from its place.
    var offset = 0.0
    private var inertia = Inertia()
    /// True for a horizontal movement; nil until the direction is known.
    private var isHorizontal: Bool?

    /// The distance after which the direction of the movement is known.
    static let slack = 12.0
    /// The part of the view's width after which the release shows another photo.
    static let fraction = 0.25
    /// The speed in units per second with which the release shows another photo also after a short distance.
    static let speed = 600.0

    mutating func begin(time: Double) {
        self = Swipe()
        inertia.begin(time: time)
    }

    /// Ignores the movement until the next one begins.
    mutating func cancel() {
        self = Swipe()
        isHorizontal = false
    }

    /// Moves the photo.
    ///
    /// - Parameters:
    ///   - x: The distance from the start.
    ///   - y: The distance from the start. A movement that begins vertically moves nothing.
    ///   - time: The time in seconds.
    mutating func move(x: Double, y: Double, time: Double) {
        if isHorizontal == nil, hypot(x, y) > Self.slack {
            isHorizontal = x.magnitude > 2 * y.magnitude
        }
        guard isHorizontal == true else { return }
        inertia.move(x: x, y: 0, time: time)
        offset = x
    }

    /// Ends the movement.
    ///
    /// - Parameters:
    ///   - width: The width of the view.
    ///   - time: The time in seconds.
    /// - Returns: 1 for the next, -1 for the previous photo, 0 if the photo returns to its place.
    mutating func release(width: Double, time: Double) -> Int {
        inertia.release(time: time)
        let speed = inertia.speed.x
        let isFar = offset.magnitude > width * Self.fraction
        let isFast = offset.magnitude > Self.slack && speed.magnitude > Self.speed
        // A movement back before the release cancels the swipe.
        let isBackwards = speed.magnitude > Self.speed && (speed < 0) != (offset < 0)
        guard isHorizontal == true, isFar || isFast, !isBackwards else { return 0 }
        return offset < 0 ? 1 : -1
    }
}
