import Testing
import Toolkit

@testable import Viewer

extension PhotoTransform {
    /// A photo of 2000 × 1000 pixels in a view of 1000 × 800.
    static func example(zoom: Double = 1) -> PhotoTransform {
        var transform = PhotoTransform()
        transform.setView(width: 1000, height: 800)
        transform.setPhoto(width: 2000, height: 1000)
        transform.zoom(by: zoom, aroundX: 500, y: 400)
        return transform
    }

    /// The point of the photo, from its center and in its pixels, that is shown at a point of the view.
    func photoPoint(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
        ((x - viewSize.x / 2 - offset.x) / scale, (y - viewSize.y / 2 - offset.y) / scale)
    }
}

@Suite struct PhotoTransformTests {
    @Test func `a new photo is shown as a whole`() {
        let transform = PhotoTransform.example()
        #expect(transform.scale == 0.5)
        #expect(!transform.isZoomed)
    }

    @Test func `a zoomed photo does not leave the view`() {
        var transform = PhotoTransform.example(zoom: 2)
        transform.pan(x: 5000, y: 5000)
        // 2000 × 1000 units in a view of 1000 × 800.
        #expect(transform.offset.x == 500)
        #expect(transform.offset.y == 100)
    }

    @Test func `the summary names zoom, rotation and position`() {
        var transform = PhotoTransform.example()
        #expect(transform.summary == "Zoom 100 %, rotation 0°")
        transform.zoom(by: 2, aroundX: 500, y: 400)
        transform.pan(x: 200, y: 0)
        #expect(
            transform.summary
                == "Zoom 200 %, rotation 0°, position 40 % from left, 50 % from top")
        transform.rotate(by: 90)
        #expect(transform.summary == "Zoom 100 %, rotation 90°")
    }

    @Test func `a rotated photo fits into the view`() {
        var transform = PhotoTransform.example()
        transform.rotate(by: 90)
        #expect(abs(transform.scale - 0.4) < 0.0001)
        transform.rotate(by: -90)
        #expect(transform.degrees == 0)
    }

    @Test func `a small photo is not enlarged`() {
        var transform = PhotoTransform()
        transform.setView(width: 1000, height: 800, pixelsPerUnit: 2)
        transform.setPhoto(width: 200, height: 100)
        #expect(transform.scale == 0.5)
    }

    @Test(arguments: [1.0, 2.0])
    func `the key for pixels shows one pixel per pixel of the screen and then the whole photo`(
        pixelsPerUnit: Double
    ) {
        var transform = PhotoTransform()
        transform.setView(width: 1000, height: 800, pixelsPerUnit: pixelsPerUnit)
        transform.setPhoto(width: 60_000, height: 1000)
        transform.zoom(by: 3, aroundX: 500, y: 400)
        transform.togglePixels()
        #expect(abs(transform.scale * pixelsPerUnit - 1) < 0.0001)
        transform.togglePixels()
        #expect(!transform.isZoomed)
    }

    @Test func `a zoomed photo keeps its size on the screen in a view of another size`() {
        var transform = PhotoTransform.example()
        transform.togglePixels()
        transform.setView(width: 600, height: 500, pixelsPerUnit: 2)
        #expect(transform.scale == 0.5)
        transform.setView(width: 1000, height: 800)
        #expect(transform.scale == 1)
        transform.setView(width: 3000, height: 2000)
        #expect(!transform.isZoomed)
        #expect(transform.scale == 1)
    }

    @Test func `a corrected size keeps the zoom`() {
        var transform = PhotoTransform.example(zoom: 4)
        transform.pan(x: 100, y: 50)
        let before = transform
        transform.correctPhoto(width: 4000, height: 2000)
        #expect(transform.zoom == 4 && transform.offset.x == before.offset.x)
        #expect(transform.photoSize.x * transform.scale == before.photoSize.x * before.scale)
    }

    @Test func `a double click shows the pixels of the photo and then the whole photo`() {
        var transform = PhotoTransform.example()
        transform.toggleZoom(aroundX: 100, y: 100)
        #expect(transform.scale == 1)
        transform.toggleZoom(aroundX: 100, y: 100)
        #expect(transform.scale == 0.5)
    }

    /// Returns a zoomed photo after equal steps of a wheel or a touchpad.
    private func scrolled(
        _ count: Int, x: Double = 0, y: Double, isWheel: Bool = false, hasControl: Bool = false
    ) -> PhotoTransform {
        var transform = PhotoTransform.example(zoom: 2)
        let step = ScrollStep(x: x, y: y, isWheel: isWheel, hasControl: hasControl)
        for _ in 0..<count { transform.scroll(step, aroundX: 100, y: 50) }
        return transform
    }

    @Test func `two fingers on a touchpad move the photo and do not zoom`() {
        let transform = scrolled(30, x: 2, y: 1)
        #expect(transform.zoom == 2)
        #expect(transform.offset == SIMD2(-60, -30))
    }

    @Test func `the key Control zooms by the amount of the movement`() {
        let pixels = scrolled(30, y: -1, hasControl: true)
        let wheel = scrolled(2, y: -1, isWheel: true)
        #expect((pixels.zoom - 2 * 1.44).magnitude < 1e-9)
        #expect((pixels.zoom - wheel.zoom).magnitude < 1e-9)
        #expect((pixels.offset - wheel.offset).max().magnitude < 1e-6)
    }

    @Test func `a horizontal movement of the wheel does not zoom`() {
        #expect(scrolled(1, x: 3, y: 0, isWheel: true) == .example(zoom: 2))
    }

    @Test func `a movement keeps the point around which the photo is zoomed`() {
        let start = PhotoTransform.example(zoom: 2)
        var end = start
        end.zoom(by: 3, aroundX: 100, y: 50)
        let middle = start.moved(to: end, part: 0.5)
        var expected = start
        expected.zoom(by: middle.zoom / start.zoom, aroundX: 100, y: 50)
        #expect((middle.offset - expected.offset).max().magnitude < 1e-6)
        #expect(middle.zoom > start.zoom && middle.zoom < end.zoom)
        #expect(start.moved(to: end, part: 1) == end)
    }

    @Test func `a movement rotates the shorter way`() {
        var start = PhotoTransform()
        start.rotate(by: 270)
        var end = start
        end.rotate(by: 90)
        #expect(start.moved(to: end, part: 0.5).degrees == 315)
    }
}
