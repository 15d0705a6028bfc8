internal import Glibc
internal import Toolkit
internal import Translation

/// The zoom, position and rotation of a photo in a view.
///
/// Lengths are in units of the view. The photo keeps touching the edges of the view if it is larger, and is centered
/// otherwise.
nonisolated struct PhotoTransform: Equatable {
    /// The size of the view.
    private(set) var viewSize = SIMD2(1.0, 1.0)
    /// Pixels of the screen per unit of the view.
    private(set) var pixelsPerUnit = 1.0
    /// The size of the photo in its own pixels, before the rotation.
    private(set) var photoSize = SIMD2(1.0, 1.0)
    /// The zoom relative to the size at which the whole photo is visible; 1 or more.
    private(set) var zoom = 1.0
    /// The distance of the photo's center from the center of the view.
    private(set) var offset = SIMD2<Double>.zero
    /// The rotation in degrees, clockwise.
    private(set) var degrees = 0.0

    static let maximumZoom = 16.0

    var isZoomed: Bool { zoom > 1.001 }

    /// The units of the view per pixel of the photo.
    var scale: Double { fittingScale * zoom }

    /// The scale at which the rotated photo fits into the view. Small photos are not enlarged.
    private var fittingScale: Double { min((viewSize / rotatedSize).min(), pixelScale) }

    /// The scale at which a pixel of the photo is one of the screen.
    private var pixelScale: Double { 1 / pixelsPerUnit }

    /// The largest zoom, at which at least each pixel of the photo is one of the screen.
    private var maximumZoom: Double { max(Self.maximumZoom, pixelScale / fittingScale) }

    /// The size of the photo's bounding box, in its own pixels.
    private var rotatedSize: SIMD2<Double> {
        let angle = degrees * .pi / 180
        let sine = sin(angle).magnitude
        let cosine = cos(angle).magnitude
        return photoSize * cosine + SIMD2(photoSize.y, photoSize.x) * sine
    }

    /// The description for screen readers. The position is that of the visible part's center in the zoomed photo.
    var summary: String {
        let text = tr(
            "Zoom {zoom} %, rotation {angle}°",
            ["zoom": Self.rounded(zoom * 100), "angle": Self.rounded(degrees)])
        guard isZoomed else { return text }
        let fromCenter = offset * 100 / (rotatedSize * scale)
        let position = SIMD2(50.0, 50.0) - fromCenter
        // Translators: {zoom} is “Zoom {zoom} %, rotation {angle}°”.
        return tr(
            "{zoom}, position {x} % from left, {y} % from top",
            ["zoom": text, "x": Self.rounded(position.x), "y": Self.rounded(position.y)])
    }

    private static func rounded(_ number: Double) -> String { "\(Int(number.rounded()))" }

    /// Changes the size of the view. A zoomed photo keeps its size on the screen.
    mutating func setView(width: Double, height: Double, pixelsPerUnit: Double = 1) {
        let pixels = scale / pixelScale
        viewSize = SIMD2(max(width, 1), max(height, 1))
        self.pixelsPerUnit = pixelsPerUnit
        if isZoomed { zoom = min(max(pixels * pixelScale / fittingScale, 1), maximumZoom) }
        limit()
    }

    /// Shows another photo as a whole.
    mutating func setPhoto(width: Double, height: Double) {
        correctPhoto(width: width, height: height)
        degrees = 0
        reset()
    }

    /// Corrects the size of the photo. The zoom and the center remain.
    mutating func correctPhoto(width: Double, height: Double) {
        photoSize = SIMD2(max(width, 1), max(height, 1))
        limit()
    }

    /// Shows the whole photo.
    mutating func reset() {
        zoom = 1
        offset = .zero
    }

    /// Multiplies the zoom. The point of the photo at (x, y) stays there.
    ///
    /// - Parameters:
    ///   - factor: The factor; less than 1 to zoom out.
    ///   - x: A point of the view, from its left.
    ///   - y: A point of the view, from its top.
    mutating func zoom(by factor: Double, aroundX x: Double, y: Double) {
        let old = zoom
        zoom = min(max(zoom * factor, 1), maximumZoom)
        let change = zoom / old
        let fromCenter = SIMD2(x, y) - viewSize / 2
        offset = fromCenter - (fromCenter - offset) * change
        limit()
    }

    /// Zooms with a wheel, or with the key Control, by the amount of the movement; moves with a touchpad.
    mutating func scroll(_ step: ScrollStep, aroundX x: Double, y: Double) {
        guard step.isWheel || step.hasControl else { return pan(x: -step.x, y: -step.y) }
        let notches = step.isWheel ? step.y : step.y / ScrollStep.notch
        zoom(by: pow(1.2, -notches), aroundX: x, y: y)
    }

    /// Returns the state of a movement of this transform to another one of the same photo and view.
    ///
    /// - Parameters:
    ///   - other: The end of the movement.
    ///   - part: The part of the movement, from 0 to 1.
    /// - Returns: The transform in the movement.
    func moved(to other: PhotoTransform, part: Double) -> PhotoTransform {
        guard part < 1 else { return other }
        var result = other
        result.zoom = zoom * pow(other.zoom / zoom, part)
        // The point around which the photo is zoomed stays.
        let change = other.zoom - zoom
        let moved = change.magnitude > 1e-6 ? (result.zoom - zoom) / change : part
        result.offset = offset + (other.offset - offset) * moved
        let angle = (other.degrees - degrees).remainder(dividingBy: 360)
        result.degrees = degrees + angle * part
        return result
    }

    /// Zooms to the photo's own pixels, or twice the fitting size, or back.
    mutating func toggleZoom(aroundX x: Double, y: Double) {
        if isZoomed { return reset() }
        zoom(by: max(2, pixelScale / fittingScale), aroundX: x, y: y)
    }

    /// Shows one pixel of the photo per pixel of the screen, or the whole photo if that is the case already.
    mutating func togglePixels() {
        if isZoomed, abs(scale / pixelScale - 1) < 0.001 { return reset() }
        zoom(by: pixelScale / scale, aroundX: viewSize.x / 2, y: viewSize.y / 2)
    }

    /// Moves the photo.
    mutating func pan(x: Double, y: Double) {
        offset += SIMD2(x, y)
        limit()
    }

    /// Turns the photo. The zoom returns to the whole photo.
    mutating func rotate(by degrees: Double) {
        self.degrees = (self.degrees + degrees).truncatingRemainder(dividingBy: 360)
        reset()
    }

    /// Turns the photo to the nearest quarter.
    mutating func snapRotation() {
        degrees = ((degrees / 90).rounded() * 90).truncatingRemainder(dividingBy: 360)
        limit()
    }

    private mutating func limit() {
        let free = pointwiseMax((rotatedSize * scale - viewSize) / 2, .zero)
        offset.clamp(lowerBound: -free, upperBound: free)
    }
}
