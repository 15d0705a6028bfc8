internal import CImages
internal import Glibc
internal import ImageMetadata
internal import ImageProtocol

/// A decoder of WebP with libwebp, which scales while it decodes. Of an animation, it decodes the first frame, at its
/// place on the transparent canvas.
extension shim_webp: ImageDecoder {
    static func load() throws(ImageFailure) -> shim_webp {
        try loadLibrary(
            ["libwebp.so.7"], package: "libwebp7 or libwebp", shim_webp(), shim_webp_load)
    }

    func decode(_ file: UnsafeRawBufferPointer, into image: ImageBuilder) throws(ImageFailure) {
        let range = image.header.frame
        // The position, in units of two pixels, and the duration of the frame precede its chunks.
        let frame = UnsafeRawBufferPointer(rebasing: file[range?.dropFirst(16) ?? file.indices])
        func position(at offset: Int) -> Int {
            let start = (range?.lowerBound ?? 0) + offset
            return 2 * (file.number(at: start, 3, isBigEndian: false) ?? 0)
        }
        let bytes = frame.bindMemory(to: UInt8.self).baseAddress
        var config = WebPDecoderConfig()
        let version = Int32(WEBP_DECODER_ABI_VERSION)
        guard self.WebPInitDecoderConfigInternal(&config, version) != 0 else {
            throw .notSupported("The installed libwebp is not supported; install version 1.")
        }
        guard
            self.WebPGetFeaturesInternal(bytes, frame.count, &config.input, version)
                == UInt32(SHIM_VP8_STATUS_OK)
        else { throw .damaged }
        let input = (width: Int(config.input.width), height: Int(config.input.height))
        let canvas = (width: image.header.width, height: image.header.height)
        let (left, top) = (position(at: 0), position(at: 3))
        let isPart = range != nil && input != canvas
        guard !isPart || left + input.width <= canvas.width && top + input.height <= canvas.height
        else { throw .damaged }
        let full = isPart ? canvas : input
        try ImageLimits.check(full.width, full.height)
        let least = image.leastSize(width: full.width, height: full.height)
        // The library averages whole pixels. The rest is scaled with a better filter.
        let divisor =
            isPart ? 1 : max(1, min(full.width / least.width, full.height / least.height))
        let size = (
            width: (full.width + divisor - 1) / divisor,
            height: (full.height + divisor - 1) / divisor
        )
        let stride = size.width * 4
        let pixels = try ImageLimits.allocate(width: size.width, height: size.height)
        defer { free(pixels) }
        let samples = pixels.assumingMemoryBound(to: UInt8.self)
        func begin() throws(ImageFailure) {
            let layout = RowLayout(
                image.profile(in: file), of: samples, width: size.width, height: size.height,
                rowBytes: stride)
            try image.begin(width: size.width, height: size.height, scaledFrom: full, layout)
        }
        let offset = isPart ? top * stride + left * 4 : 0
        config.options.use_scaling = divisor > 1 ? 1 : 0
        config.options.scaled_width = Int32(size.width)
        config.options.scaled_height = Int32(size.height)
        config.output.colorspace = .init(SHIM_MODE_RGBA)
        config.output.is_external_memory = 1
        config.output.u.RGBA.rgba = samples + offset
        config.output.u.RGBA.stride = Int32(stride)
        config.output.u.RGBA.size = stride * size.height - offset
        switch Int(self.WebPDecode(bytes, frame.count, &config)) {
        case SHIM_VP8_STATUS_OK:
            try begin()
            image.add(pixels, stride: stride)
        case SHIM_VP8_STATUS_OUT_OF_MEMORY: throw .tooLarge
        default:
            // The rows of a truncated file.
            var end: Int32 = 0
            if let decoder = self.WebPIDecode(bytes, frame.count, &config) {
                _ = self.WebPIUpdate(decoder, bytes, frame.count)
                _ = self.WebPIDecGetRGB(decoder, &end, nil, nil, nil)
                self.WebPIDelete(decoder)
            }
            try begin()
            for y in 0..<Int(end) { image.add(pixels + y * stride) }
            throw .damaged
        }
    }
}
