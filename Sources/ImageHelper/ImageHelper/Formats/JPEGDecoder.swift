internal import CImages
internal import Glibc
internal import ImageMetadata
internal import ImageProtocol

/// A decoder of JPEG with libjpeg-turbo, which scales while it decodes.
extension shim_jpeg: ImageDecoder {
    static func load() throws(ImageFailure) -> shim_jpeg {
        try loadLibrary(
            ["libturbojpeg.so.0"], package: "libturbojpeg0, turbojpeg or libjpeg-turbo",
            shim_jpeg(), shim_jpeg_load)
    }

    func decode(_ file: UnsafeRawBufferPointer, into image: ImageBuilder) throws(ImageFailure) {
        guard let handle = self.tjInitDecompress() else { throw .tooLarge }
        defer { _ = self.tjDestroy(handle) }
        let bytes = file.bindMemory(to: UInt8.self).baseAddress
        let byteCount = UInt(file.count)
        var (width, height, subsampling, colors): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        // It fails if the subsampling has no name in the library. Decoding does not need one.
        _ = self.tjDecompressHeader3(
            handle, bytes, byteCount, &width, &height, &subsampling, &colors)
        let full = (width: Int(width), height: Int(height))
        try ImageLimits.check(full.width, full.height)
        let least = image.leastSize(width: full.width, height: full.height)
        // The library scales by eighths, and rounds up.
        func scaled(_ side: Int, _ eighths: Int) -> Int { (side * eighths + 7) / 8 }
        let eighths =
            (1...8).first {
                scaled(full.width, $0) >= least.width && scaled(full.height, $0) >= least.height
            } ?? 8
        let size = (width: scaled(full.width, eighths), height: scaled(full.height, eighths))
        let hasInks = image.header.channels == 4
        var layout = RowLayout(channels: hasInks ? .cmyk : .rgba)
        layout.isGray = image.header.channels == 1
        layout.colors = image.profile(in: file)
        try image.begin(width: size.width, height: size.height, scaledFrom: full, layout)
        let pixels = try ImageLimits.allocate(width: size.width, height: size.height)
        defer { free(pixels) }
        let samples = pixels.assumingMemoryBound(to: UInt8.self)
        let format = hasInks ? SHIM_TJPF_CMYK : SHIM_TJPF_RGBA
        let result = self.tjDecompress2(
            handle, bytes, byteCount, samples, Int32(size.width), Int32(size.width * 4),
            Int32(size.height), Int32(format), Int32(SHIM_TJFLAG_LIMITSCANS))
        // After a warning, the damaged part is gray. The header of pixels has at most 14 bytes.
        guard
            result == 0
                || self.tjGetErrorCode(handle) == Int32(SHIM_TJERR_WARNING)
                    && file.count > image.header.pixelOffset + 16
        else { throw .damaged }
        if hasInks {
            // All programs that write inks invert them.
            for index in 0..<size.width * size.height * 4 { samples[index] = ~samples[index] }
        }
        image.add(pixels, stride: size.width * 4)
    }
}
