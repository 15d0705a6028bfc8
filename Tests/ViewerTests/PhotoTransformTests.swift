import Testing

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

    @Test func `the point under the pointer stays there while zooming`() {
        var transform = PhotoTransform.example(zoom: 4)
        let before = transform.photoPoint(700, 300)
        transform.zoom(by: 1.5, aroundX: 700, y: 300)
        let after = transform.photoPoint(700, 300)
        #expect(abs(before.x - after.x) < 0.001 && abs(before.y - after.y) < 0.001)
    }

    @Test func `a zoomed photo does not leave the view`() {
        var transform = PhotoTransform.example(zoom: 2)
        transform.pan(x: 5000, y: 5000)
        // 2000 × 1000 units in a view of 1000 × 800.
        #expect(transform.offset.x == 500)
        #expect(transform.offset.y == 100)
    }

    @Test func `the zoom is limited`() {
        var transform = PhotoTransform.example()
        transform.zoom(by: 1000, aroundX: 0, y: 0)
        #expect(transform.zoom == PhotoTransform.maximumZoom)
        transform.zoom(by: 0.0001, aroundX: 0, y: 0)
        #expect(transform.zoom == 1)
        #expect(transform.offset.x == 0 && transform.offset.y == 0)
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

    @Test func `a rotation with two fingers ends at the nearest quarter`() {
        var transform = PhotoTransform.example()
        transform.rotate(by: 70)
        transform.snapRotation()
        #expect(transform.degrees == 90)
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
}
