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
    /// True if the file has several frames.
    package var isAnimated = false
    /// The kind of an image that the supported libraries cannot decode, as the subject of a sentence in the plural.
    package var unsupportedKind: String?
    /// The range of the image in a raw file, a JPEG; nil for the whole file.
    package var preview: Range<Int>?
    /// The offset of the table of the image in a TIFF file; nil for the first one.
    package var tableOffset: Int?
    /// The ranges of the parts of the ICC profile of a JPEG or WebP file.
    package var profile: [Range<Int>] = []
    /// The range of the first frame of an animation in a WebP file: its position, and its chunks.
    package var frame: Range<Int>?
    /// The number of channels of a JPEG file.
    package var channels = 0
    /// The offset at which the pixels of a JPEG file begin.
    package var pixelOffset = 0

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Sets the time, the location, the camera and its settings.
    ///
    /// - Parameters:
    ///   - exif: EXIF of the file.
    ///   - packet: XMP of the file, for what EXIF does not state. It is read only if something is missing.
    ///   - time: A time in other metadata of the file.
    mutating func setOrigin(
        _ exif: Exif?, _ packet: (some ByteSource)?, _ time: CivilTime? = nil
    ) {
        details = exif?.details ?? CaptureDetails()
        let xmp = exif?.taken != nil && details.isComplete ? nil : XMP(packet)
        let times = [
            exif?.taken, xmp?.taken, time, exif?.located, xmp?.located, exif?.changed,
        ]
        taken = times.lazy.compactMap(\.self).first(where: \.isPlausible)
        if let other = xmp?.details { details.complete(with: other) }
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
    ///   - format: The format according to ``ImageFormat``.
    ///   - decompressor: Decompresses metadata; nil to skip compressed metadata.
    package init?(
        _ source: some ByteSource, format: ImageFormat, _ decompressor: Decompressor? = nil
    ) {
        let header: ImageHeader? =
            switch format {
            case .jpeg: readJPEG(source)
            case .png: readPNG(source, decompressor)
            case .webP: readWebP(source)
            case .gif: readGIF(source)
            case .tiff: readTIFF(source)
            case .bmp: readBMP(source)
            case .avif, .heic: readHEIF(source)
            case .jpegXL: readJPEGXL(source, decompressor)
            case .raw: readRaw(source)
            }
        guard let header, header.width > 0, header.height > 0,
            header.width <= Int(Int32.max), header.height <= Int(Int32.max)
        else { return nil }
        self = header
    }

    /// Returns false if a file is known to be truncated. A large part of it may be read.
    package func isWhole(_ source: some ByteSource, _ format: ImageFormat) -> Bool {
        switch format {
        case .jpeg: hasJPEGEnd(source, after: pixelOffset)
        case .png: PNGFile.hasEnd(source)
        default: true
        }
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
