internal import Glibc
internal import Toolkit

/// The largest size of an image in pixels that a view needs at its zoom.
nonisolated struct ImageLimits: Equatable {
    let width: Int
    let height: Int
    let isZoomed: Bool

    /// The largest number of pixels of an image in memory.
    private static let mostPixels = 64.0 * 1_000_000
    private static let longestSide = 65_535.0

    /// Creates the limits for a view. Zoomed images have some steps, so that not every change decodes another one.
    init(_ transform: PhotoTransform) {
        isZoomed = transform.isZoomed
        let step = isZoomed ? exp2(log2(transform.zoom).rounded(.up)) : 1
        var width = transform.viewWidth * transform.pixelsPerUnit * step
        var height = transform.viewHeight * transform.pixelsPerUnit * step
        let isTurned = (transform.degrees / 90).rounded().truncatingRemainder(dividingBy: 2) != 0
        if isTurned { swap(&width, &height) }
        let excess = max(1, width * height / Self.mostPixels).squareRoot()
        self.width = Int(min(max(1, width / excess), Self.longestSide))
        self.height = Int(min(max(1, height / excess), Self.longestSide))
    }

    func contain(_ other: ImageLimits) -> Bool { other.width <= width && other.height <= height }

    /// Compares an image with the pixels that the view needs. A whole photo has exactly these pixels, so that it is not
    /// scaled again.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - photo: The size of the photo in its own pixels; nil if it is unknown.
    /// - Returns: True if the image is sufficient.
    func areMet(by image: LoadedImage, _ photo: (width: Int, height: Int)?) -> Bool {
        // A smaller image of a service may be all that is known.
        let photo = photo ?? (image.fullWidth, image.fullHeight)
        let scale = min(
            1, Double(width) / Double(photo.width), Double(height) / Double(photo.height))
        let missing = Double(photo.width) * scale - Double(image.texture.width)
        return isZoomed ? missing <= 1 : abs(missing) <= 1
    }
}
