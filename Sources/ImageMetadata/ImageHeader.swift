/// The properties of an image according to the headers of its file.
///
/// The file may be malicious: reading it is bounded in time and never leaves the file.
package struct ImageHeader: Hashable, Sendable {
    /// Stored width in pixels.
    package var width: Int
    /// Stored height in pixels.
    package var height: Int
    package var orientation = ImageOrientation.upright
    package var taken: CivilTime?
    /// The camera, its settings and the place. Its numbers are positive.
    package var details = CaptureDetails()
    /// True if a GIF or WebP file has several frames.
    package var isAnimated = false
    /// False if the file is known to be truncated.
    package var isWhole = true

    init(width: Int, height: Int, _ exif: Exif? = nil) {
        self.width = width
        self.height = height
        orientation = exif?.orientation ?? .upright
        setOrigin(exif)
    }

    /// Sets the time, the location, the camera and its settings.
    mutating func setOrigin(_ exif: Exif?) {
        taken = exif?.taken
        details = exif?.details ?? CaptureDetails()
    }

    /// Reads the headers of a file in a format that is detected; nil for a file without an image, or a damaged one.
    package init?(_ file: some ByteSource) {
        guard let format = ImageFormat(file) else { return nil }
        self.init(file, format: format)
    }

    /// Reads the headers of a file; nil if they do not contain the size of the image, for example in a damaged file.
    ///
    /// - Parameters:
    ///   - source: The file.
    ///   - format: The format according to the first bytes of the file.
    package init?(_ source: some ByteSource, format: ImageFormat) {
        let header: ImageHeader? =
            switch format {
            case .jpeg: readJPEG(source)
            case .png: readPNG(source)
            case .webP: readWebP(source)
            case .gif: readGIF(source)
            case .tiff: readTIFF(source)
            case .bmp: readBMP(source)
            case .avif, .heic: readHEIF(source)
            case .jpegXL: readJPEGXL(source)
            case .raw: nil
            }
        guard let header, header.width > 0, header.height > 0,
            header.width <= Int(Int32.max), header.height <= Int(Int32.max)
        else { return nil }
        self = header
    }

    /// Width and height of the image with the orientation applied.
    package var shownSize: (width: Int, height: Int) {
        orientation.swapsSides ? (height, width) : (width, height)
    }
}

/// The orientation of the stored pixels, with the values of EXIF: 1 is upright.
package enum ImageOrientation: Int, Sendable {
    case upright = 1
    case mirrored
    case upsideDown
    case upsideDownMirrored
    case leftMirrored
    case left
    case rightMirrored
    case right

    /// True if the stored width is the shown height.
    package var swapsSides: Bool { rawValue >= 5 }
}
