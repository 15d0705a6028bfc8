import Testing

@testable import Viewer

@Suite struct FingerGestureTests {
    @Test(arguments: [(1.5, 400.0, 300.0), (0.7, 620.0, 450.0), (2.5, 100.0, 500.0)])
    func `a pinch keeps the point between the fingers`(factor: Double, x: Double, y: Double) {
        var transform = PhotoTransform.example(zoom: 4)
        var gesture = FingerGesture()
        let before = transform.photoPoint(x, y)
        gesture.begin(x: x, y: y)
        // The factor of each event is relative to the beginning.
        for step in 1...10 {
            gesture.pinch(&transform, factor: 1 + (factor - 1) * Double(step) / 10, x: x, y: y)
        }
        let after = transform.photoPoint(x, y)
        #expect(abs(transform.zoom - 4 * factor) < 0.001)
        #expect(abs(before.x - after.x) < 0.001 && abs(before.y - after.y) < 0.001)
    }

    @Test func `a photo follows the point between the fingers`() {
        var transform = PhotoTransform.example(zoom: 4)
        var gesture = FingerGesture()
        let before = transform.photoPoint(400, 300)
        gesture.begin(x: 400, y: 300)
        gesture.pinch(&transform, factor: 1.2, x: 430, y: 280)
        gesture.pinch(&transform, factor: 1.5, x: 460, y: 260)
        let after = transform.photoPoint(460, 260)
        #expect(abs(before.x - after.x) < 0.001 && abs(before.y - after.y) < 0.001)
    }

    @Test func `a pinch stays between the whole photo and the largest zoom`() {
        var transform = PhotoTransform.example()
        var gesture = FingerGesture()
        gesture.begin(x: 100, y: 100)
        gesture.pinch(&transform, factor: 1000, x: 100, y: 100)
        #expect(transform.zoom == PhotoTransform.maximumZoom)
        gesture.pinch(&transform, factor: 0.001, x: 100, y: 100)
        #expect(transform.zoom == 1)
        #expect(transform.offset.x == 0 && transform.offset.y == 0)
        gesture.pinch(&transform, factor: 0, x: 100, y: 100)
        gesture.pinch(&transform, factor: .infinity, x: 100, y: 100)
        #expect(transform.zoom == 1)
    }

    /// Two fingers that turn by small steps, with the angles of 0 to 2π that GTK passes.
    private func turn(_ transform: inout PhotoTransform, degrees: Double) {
        var gesture = FingerGesture()
        gesture.beginTurn()
        for step in 1...20 {
            let angle = degrees * Double(step) / 20 * .pi / 180
            gesture.turn(&transform, angle: angle < 0 ? angle + 2 * .pi : angle)
        }
        gesture.endTurn(&transform)
    }

    @Test(
        arguments: [
            (50.0, 0.0), (70.0, 90.0), (100.0, 90.0), (120.0, 90.0), (160.0, 180.0), (-50.0, 0.0),
            (-70.0, -90.0), (-160.0, -180.0),
        ])
    func `a rotation ends at the nearest quarter`(degrees: Double, expected: Double) {
        var transform = PhotoTransform.example()
        turn(&transform, degrees: degrees)
        #expect(transform.degrees == expected)
        #expect(transform.zoom == 1)
    }

    @Test(arguments: [10.0, -10.0])
    func `a small rotation during a pinch changes neither rotation nor zoom`(degrees: Double) {
        var transform = PhotoTransform.example(zoom: 3)
        turn(&transform, degrees: degrees)
        #expect(transform.degrees == 0)
        #expect(transform.zoom == 3)
    }

    @Test func `a rotation begins without a jump`() {
        var transform = PhotoTransform.example()
        var gesture = FingerGesture()
        gesture.beginTurn()
        gesture.turn(&transform, angle: FingerGesture.turnThreshold)
        #expect(transform.degrees == 0)
        gesture.turn(&transform, angle: FingerGesture.turnThreshold + 0.02)
        #expect(transform.degrees > 0 && transform.degrees < 2)
    }

    @Test func `a photo that is rotated is not zoomed`() {
        var transform = PhotoTransform.example()
        var gesture = FingerGesture()
        gesture.begin(x: 500, y: 400)
        gesture.beginTurn()
        gesture.turn(&transform, angle: 1)
        gesture.pinch(&transform, factor: 3, x: 500, y: 400)
        #expect(transform.zoom == 1)
    }
}
