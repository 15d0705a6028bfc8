internal import CImages
internal import Glibc
internal import ImageMetadata
internal import ImageProtocol

/// A decoder of JPEG XL with libjxl, which applies the orientation itself.
extension shim_jxl: ImageDecoder {
    static func load() throws(ImageFailure) -> shim_jxl {
        try loadLibrary(
            [
                "libjxl.so.0.11", "libjxl.so.0.12", "libjxl.so.0.10", "libjxl.so.0.9",
                "libjxl.so.0.8",
                "libjxl.so.0.7",
            ],
            package: "libjxl0.11, libjxl0.7 or libjxl", shim_jxl(), shim_jxl_load)
    }

    func decode(_ file: UnsafeRawBufferPointer, into image: ImageBuilder) throws(ImageFailure) {
        guard let decoder = self.JxlDecoderCreate(nil) else { throw .tooLarge }
        defer { self.JxlDecoderDestroy(decoder) }
        let events = SHIM_JXL_DEC_COLOR_ENCODING | SHIM_JXL_DEC_FULL_IMAGE
        _ = self.JxlDecoderSubscribeEvents(decoder, Int32(events))
        _ = self.JxlDecoderSetUnpremultiplyAlpha(decoder, 1)
        _ = self.JxlDecoderSetInput(
            decoder, file.bindMemory(to: UInt8.self).baseAddress, file.count)
        let (width, height) = image.header.shownSize
        let stride = width * 4
        var format = JxlPixelFormat()
        format.num_channels = 4
        format.data_type = .init(SHIM_JXL_TYPE_UINT8)
        // The library accepts a profile for gray only with a gray image.
        var layout = RowLayout(isGray: true)
        var pixels: UnsafeMutableRawPointer?
        defer { free(pixels) }
        while true {
            let status = Int(self.JxlDecoderProcessInput(decoder))
            switch status {
            case SHIM_JXL_DEC_COLOR_ENCODING:
                layout.colors = colors(decoder)
            case SHIM_JXL_DEC_NEED_IMAGE_OUT_BUFFER:
                var byteCount = 0
                guard pixels == nil,
                    self.JxlDecoderImageOutBufferSize(decoder, &format, &byteCount)
                        == UInt32(SHIM_JXL_DEC_SUCCESS), byteCount == stride * height
                else { throw .damaged }
                pixels = try ImageLimits.allocate(width: width, height: height)
                _ = self.JxlDecoderSetImageOutBuffer(decoder, &format, pixels, byteCount)
            case SHIM_JXL_DEC_FULL_IMAGE, SHIM_JXL_DEC_SUCCESS, SHIM_JXL_DEC_NEED_MORE_INPUT:
                let isTruncated = status == SHIM_JXL_DEC_NEED_MORE_INPUT
                guard let pixels,
                    !isTruncated
                        || self.JxlDecoderFlushImage(decoder) == UInt32(SHIM_JXL_DEC_SUCCESS)
                else { throw .damaged }
                try image.begin(width: width, height: height, layout, .upright)
                image.add(pixels, stride: stride)
                if isTruncated { throw .damaged }
                return
            default:
                // The library does not distinguish damage from missing memory.
                throw .damaged
            }
        }
    }

    private func colors(_ decoder: OpaquePointer) -> ColorDescription {
        withUnsafePointer(to: self) { functions in
            let count = shim_jxl_profile(functions, decoder, nil, 0)
            guard 1...16 << 20 ~= count else { return .sRGB }
            var profile = [UInt8](repeating: 0, count: count)
            guard shim_jxl_profile(functions, decoder, &profile, count) == count else {
                return .sRGB
            }
            return .profile(profile)
        }
    }
}
