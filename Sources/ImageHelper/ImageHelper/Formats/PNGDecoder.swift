internal import CImages
internal import Glibc
internal import ImageMetadata
internal import ImageProtocol

/// A decoder of PNG with libpng, row by row.
extension shim_png: ImageDecoder {
    static func load() throws(ImageFailure) -> shim_png {
        try loadLibrary(
            ["libpng16.so.16"], package: "libpng16-16, libpng16-16t64 or libpng", shim_png(),
            shim_png_load)
    }

    func decode(_ file: UnsafeRawBufferPointer, into image: ImageBuilder) throws(ImageFailure) {
        try withUnsafePointer(to: self) { functions throws(ImageFailure) in
            var source = shim_png_image()
            source.functions = functions
            defer { shim_png_close(&source) }
            // The library reads the pixels in blocks, and does not decode a block that the file does not contain completely.
            let isWhole = image.header.isWhole(file, .png)
            switch Int(shim_png_open(&source, file.baseAddress, file.count, isWhole ? 0 : 1)) {
            case SHIM_PNG_READ: break
            case SHIM_PNG_NO_MEMORY: throw .tooLarge
            default: throw .damaged
            }
            let (width, height) = (Int(source.width), Int(source.height))
            var layout = RowLayout(isDeep: source.depth == 16)
            layout.isGray = source.has_color == 0
            if let colors = ColorDescription.ofPNG(file) {
                layout.colors = colors
            } else if let profile = source.profile, source.profile_bytes > 0 {
                layout.colors = .profile(
                    Array(UnsafeBufferPointer(start: profile, count: Int(source.profile_bytes))))
            }
            try image.begin(width: width, height: height, layout)
            // The rows of an interlaced image are complete after the last pass.
            let rowBytes = width * (layout.isDeep ? 8 : 4)
            let passes = Int(source.passes)
            let rows = try ImageLimits.allocate(
                width: width, height: passes > 1 ? height : 1, pixelBytes: rowBytes / width)
            defer { free(rows) }
            var isDamaged = false
            for pass in 0..<passes {
                for y in 0..<height {
                    let row = rows + (passes > 1 ? y * rowBytes : 0)
                    // The passes before are shown as far as they were read.
                    isDamaged = isDamaged || shim_png_read_row(&source, row) == 0
                    if isDamaged, passes == 1 || pass == 0 && y == 0 { throw .damaged }
                    if pass == passes - 1 { image.add(row) }
                }
            }
            if isDamaged { throw .damaged }
        }
    }
}

extension ColorDescription {
    /// Returns the colors that the chunks cICP, sRGB, gAMA and cHRM of a PNG file describe; nil if there are none, or if
    /// an ICC profile takes precedence.
    ///
    /// Source: PNG, third edition, §4.3, §11.3.2.
    static func ofPNG(_ file: UnsafeRawBufferPointer) -> ColorDescription? {
        var hasProfile = false
        var isStandard = false
        var exponent: Double?
        var points: [Double]?
        for chunk in Chunk.png(file) where chunk.contents.upperBound + 4 <= file.count {
            let data = chunk.contents.lowerBound
            let numbers = (0..<8).map { file.number(at: data + $0 * 4, 4) ?? 0 }
            switch (chunk.type, chunk.contents.count) {
            case ("cICP", 4):
                return .codes(primaries: Int(file[data]), transfer: Int(file[data + 1]))
            case ("iCCP", _): hasProfile = true
            case ("sRGB", 1): isStandard = true
            case ("gAMA", 4) where numbers[0] > 0: exponent = 100_000 / Double(numbers[0])
            case ("cHRM", 32): points = numbers.map { Double($0) / 100_000 }
            default: break
            }
            if chunk.type == "IDAT" || chunk.type == "IEND" { break }
        }
        if hasProfile { return nil }
        if isStandard { return .sRGB }
        // Chromaticities without a gamma have no effect.
        guard let exponent else { return nil }
        // ImageMagick and other programs describe sRGB by its chromaticities and about its gamma.
        let isUsual =
            (2.1...2.3).contains(exponent)
            && zip(points ?? [], shim_color.bt709).allSatisfy { abs($0 - $1) <= 0.002 }
        return isUsual ? .sRGB : .gamma(exponent, points)
    }
}
