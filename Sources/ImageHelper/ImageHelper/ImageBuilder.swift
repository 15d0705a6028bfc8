internal import CImages
internal import Glibc
internal import ImageMetadata
internal import ImageProtocol

/// The contents of the rows that a decoder passes.
struct RowLayout {
    enum Channels {
        /// Red, green, blue and alpha, not multiplied by alpha.
        case rgba
        /// Amounts of ink: cyan, magenta, yellow and black.
        case cmyk
        /// Amounts of ink, and alpha, by which they are not multiplied.
        case cmyka

        var count: Int { self == .cmyka ? 5 : 4 }
    }

    var channels = Channels.rgba
    /// True if a channel has two bytes in the order of the processor.
    var isDeep = false
    /// True if red, green and blue are equal, so that a profile for gray applies.
    var isGray = false
    var colors = ColorDescription.sRGB

    var pixelBytes: Int { channels.count * (isDeep ? 2 : 1) }
}

/// Builds an image from decoded rows: converts the colors, scales, and applies the orientation.
final class ImageBuilder {
    private let request: ImageSizeRequest
    /// The header of the file.
    let header: ImageHeader
    private let colors: shim_color?
    /// An open memory file for the pixels; nil for memory of this process.
    private let output: Int32?
    private var image: PixelImage?
    private var conversion: ColorConversion?
    private var scaler: Scaler?
    private var placement: Placement?
    /// The columns and rows of the decoded image that are used.
    private var columns = 0..<0
    private var rows = 0..<0
    private var pixelBytes = 0
    private var nextRow = 0
    /// The converted row.
    private var line: [UInt8] = []

    init(
        _ request: ImageSizeRequest, _ header: ImageHeader, _ colors: shim_color?,
        sharedIn output: Int32?
    ) {
        self.request = request
        self.header = header
        self.colors = colors
        self.output = output
    }

    /// Returns the colors of a file whose ICC profile is not read by a library.
    func profile(in file: UnsafeRawBufferPointer) -> ColorDescription {
        header.profile.isEmpty ? .sRGB : .profile(header.profile.flatMap { file[$0] })
    }

    /// Returns the least size that a decoder may scale the stored image to.
    func leastSize(width: Int, height: Int) -> (width: Int, height: Int) {
        switch request {
        case .fit:
            return scaledSize(width, height, swapped: header.orientation.swapsSides)
        case .square(let side):
            let factor = min(1, Double(side) / Double(min(width, height)))
            return (Self.scaled(width, factor), Self.scaled(height, factor))
        }
    }

    private func scaledSize(
        _ width: Int, _ height: Int, swapped: Bool
    ) -> (width: Int, height: Int) {
        guard case .fit(let boxWidth, let boxHeight) = request else { return (width, height) }
        let limits = swapped ? (boxHeight, boxWidth) : (boxWidth, boxHeight)
        let factor = min(
            1, Double(limits.0) / Double(width), Double(limits.1) / Double(height),
            ImageLimits.factor(width, height))
        return (Self.scaled(width, factor), Self.scaled(height, factor))
    }

    private static func scaled(_ side: Int, _ factor: Double) -> Int {
        max(1, Int((Double(side) * factor).rounded()))
    }

    /// Begins an image.
    ///
    /// - Parameters:
    ///   - width: The width of the rows.
    ///   - height: The number of the rows.
    ///   - full: The stored size of the whole image, if the decoder scaled it.
    ///   - layout: The contents of the rows.
    ///   - orientation: The orientation of the rows; nil for that of the file.
    /// - Throws: ``ImageFailure/tooLarge`` and ``ImageFailure/damaged``.
    func begin(
        width: Int, height: Int, scaledFrom full: (width: Int, height: Int)? = nil,
        _ layout: RowLayout = RowLayout(), _ orientation: ImageOrientation? = nil
    ) throws(ImageFailure) {
        try ImageLimits.check(width, height)
        let full = full ?? (width, height)
        let orientation = orientation ?? header.orientation
        var size = (width: width, height: height)
        switch request {
        case .fit:
            columns = 0..<width
            rows = 0..<height
            size = scaledSize(full.width, full.height, swapped: orientation.swapsSides)
        case .square(let side):
            let least = min(width, height)
            columns = (width - least) / 2..<(width - least) / 2 + least
            rows = (height - least) / 2..<(height - least) / 2 + least
            size = (side, side)
        }
        let swaps = orientation.swapsSides
        let image = try PixelImage(
            PixelSize(
                width: swaps ? size.height : size.width, height: swaps ? size.width : size.height,
                fullWidth: swaps ? full.height : full.width,
                fullHeight: swaps ? full.width : full.height), sharedIn: output)
        self.image = image
        let placement = Placement(image, orientation)
        self.placement = placement
        conversion = ColorConversion(colors, layout)
        pixelBytes = layout.pixelBytes
        line = [UInt8](repeating: 0, count: columns.count * 4)
        if size != (columns.count, rows.count) {
            scaler = Scaler(
                from: (columns.count, rows.count), to: size, placement: placement)
        }
    }

    /// Adds the next row.
    func add(_ row: UnsafeRawPointer) {
        defer { nextRow += 1 }
        guard rows.contains(nextRow), let conversion, let placement else { return }
        let start = row + columns.lowerBound * pixelBytes
        line.withUnsafeMutableBufferPointer { line in
            guard let pixels = line.baseAddress else { return }
            conversion.convert(start, pixels, columns.count)
            if let scaler {
                scaler.add(pixels)
            } else {
                placement.place(pixels, columns.count, row: nextRow - rows.lowerBound)
            }
        }
    }

    /// Adds all rows of an image in memory.
    ///
    /// - Parameters:
    ///   - pixels: The first row.
    ///   - stride: The distance of the rows in bytes.
    func add(_ pixels: UnsafeRawPointer, stride: Int) {
        for y in 0..<rows.upperBound { add(pixels + y * stride) }
    }

    /// Returns the image.
    ///
    /// - Parameter isTruncated: True to make rows that are missing at the end transparent.
    /// - Returns: The image.
    /// - Throws: ``ImageFailure/damaged`` if rows are missing, or if all pixels of a truncated image are equal.
    func finish(isTruncated: Bool) throws(ImageFailure) -> PixelImage {
        guard let image, nextRow >= rows.upperBound || isTruncated && nextRow > 0 else {
            throw .damaged
        }
        let blank = [UInt8](repeating: 0, count: columns.upperBound * pixelBytes)
        while nextRow < rows.upperBound { add(blank) }
        if isTruncated, memcmp(image.pixels, image.pixels + 4, image.size.byteCount - 4) == 0 {
            throw .damaged
        }
        return image
    }
}

/// The places of stored pixels in an upright image.
struct Placement {
    private let origin: UnsafeMutablePointer<UInt8>
    /// The distances of the places of adjacent stored pixels, in bytes.
    private let columnStep: Int
    private let rowStep: Int

    init(_ image: PixelImage, _ orientation: ImageOrientation) {
        let stride = image.width * 4
        let (right, down) = ((image.width - 1) * 4, (image.height - 1) * stride)
        let start: Int
        (start, columnStep, rowStep) =
            switch orientation {
            case .upright: (0, 4, stride)
            case .mirrored: (right, -4, stride)
            case .upsideDown: (right + down, -4, -stride)
            case .upsideDownMirrored: (down, 4, -stride)
            case .leftMirrored: (0, stride, 4)
            case .left: (right, stride, -4)
            case .rightMirrored: (right + down, -stride, -4)
            case .right: (down, -stride, 4)
            }
        origin = image.pixels + start
    }

    /// Returns the place of the first pixel of a stored row, and the distance to the next one.
    func row(_ y: Int) -> (UnsafeMutablePointer<UInt8>, step: Int) {
        (origin + y * rowStep, columnStep)
    }

    /// Copies a row, and multiplies its colors by alpha.
    func place(_ pixels: UnsafeMutablePointer<UInt8>, _ count: Int, row y: Int) {
        let (start, step) = row(y)
        var place = start
        for x in 0..<count {
            let pixel = pixels + x * 4
            let alpha = UInt32(pixel[3])
            if alpha == 255 {
                UnsafeMutableRawPointer(place).copyMemory(from: pixel, byteCount: 4)
            } else {
                for channel in 0..<3 {
                    place[channel] = UInt8((UInt32(pixel[channel]) * alpha + 127) / 255)
                }
                place[3] = pixel[3]
            }
            place += step
        }
    }
}
