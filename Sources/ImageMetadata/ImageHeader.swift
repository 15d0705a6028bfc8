package import ProviderKit

/// What the headers of an image file say of the image in it.
///
/// The file may be anybody's: whatever it says, reading ends soon and stays within the file.
package struct ImageHeader: Hashable, Sendable {
    /// In pixels, as they are stored.
    package var width: Int
    /// In pixels, as they are stored.
    package var height: Int
    package var orientation = ImageOrientation.upright
    package var taken: CivilTime?
    /// Whether the file ends where its format says that it does, as far as that is looked at.
    package var isWhole = true

    init(width: Int, height: Int, _ exif: Exif? = nil) {
        self.width = width
        self.height = height
        orientation = exif?.orientation ?? .upright
        taken = exif?.taken
    }

    /// Reads the headers of a file; nil if it does not say how large its image is, as damaged ones.
    ///
    /// - Parameters:
    ///   - source: The file.
    ///   - format: What it is, by its first bytes.
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
            }
        guard let header, header.width > 0, header.height > 0,
            header.width <= Int(Int32.max), header.height <= Int(Int32.max)
        else { return nil }
        self = header
    }

    /// Width and height of the image as it is shown.
    package var shownSize: (width: Int, height: Int) {
        orientation.swapsSides ? (height, width) : (width, height)
    }
}

/// How the pixels of a file lie, as EXIF numbers it: 1 is upright.
package enum ImageOrientation: Int, Sendable {
    case upright = 1
    case mirrored
    case upsideDown
    case upsideDownMirrored
    case leftMirrored
    case left
    case rightMirrored
    case right

    /// Whether what is stored as the width is shown as the height.
    package var swapsSides: Bool { rawValue >= 5 }
}
