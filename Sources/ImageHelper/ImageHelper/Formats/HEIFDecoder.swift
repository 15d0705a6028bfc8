internal import CImages
internal import ImageProtocol

/// A decoder of HEIC and AVIF with libheif, which applies the orientation itself.
extension shim_heif: ImageDecoder {
    static func load() throws(ImageFailure) -> shim_heif {
        let functions = try loadLibrary(
            ["libheif.so.1"], package: "libheif1 or libheif", shim_heif(), shim_heif_load)
        // Loads the plugins for codecs, which could not be opened later.
        _ = functions.heif_init(nil)
        return functions
    }

    func decode(_ file: UnsafeRawBufferPointer, into image: ImageBuilder) throws(ImageFailure) {
        guard let context = self.heif_context_alloc() else { throw .tooLarge }
        defer { self.heif_context_free(context) }
        try check(
            self.heif_context_read_from_memory_without_copy(
                context, file.baseAddress, file.count, nil))
        var handle: OpaquePointer?
        try check(self.heif_context_get_primary_image_handle(context, &handle))
        guard let handle else { throw .damaged }
        defer { self.heif_image_handle_release(handle) }
        try ImageLimits.check(
            Int(self.heif_image_handle_get_width(handle)),
            Int(self.heif_image_handle_get_height(handle)))
        var decoded: OpaquePointer?
        try check(
            self.heif_decode_image(
                handle, &decoded, UInt32(SHIM_heif_colorspace_RGB),
                UInt32(SHIM_heif_chroma_interleaved_RGBA), nil))
        guard let decoded else { throw .damaged }
        defer { self.heif_image_release(decoded) }
        let channel = UInt32(SHIM_heif_channel_interleaved)
        let width = Int(self.heif_image_get_width(decoded, channel))
        let height = Int(self.heif_image_get_height(decoded, channel))
        var stride: Int32 = 0
        guard
            let pixels = self.heif_image_get_plane(decoded, channel, &stride),
            width > 0, Int(stride) >= width * 4
        else { throw .damaged }
        if self.heif_image_is_premultiplied_alpha(decoded) != 0 {
            for y in 0..<height {
                divideByAlpha(
                    UnsafeMutableBufferPointer(start: pixels + y * Int(stride), count: width * 4))
            }
        }
        let layout = RowLayout(
            colors(handle), of: pixels, width: width, height: height, rowBytes: Int(stride))
        try image.begin(width: width, height: height, layout)
        image.add(pixels, stride: Int(stride))
    }

    private func colors(_ handle: OpaquePointer) -> ColorDescription {
        let count = self.heif_image_handle_get_raw_color_profile_size(handle)
        if count > 0, count <= 16 << 20 {
            var profile = [UInt8](repeating: 0, count: count)
            if self.heif_image_handle_get_raw_color_profile(handle, &profile).code == 0 {
                return .profile(profile)
            }
        }
        var codes: UnsafeMutablePointer<heif_color_profile_nclx>?
        guard self.heif_image_handle_get_nclx_color_profile(handle, &codes).code == 0,
            let codes
        else { return .sRGB }
        defer { self.heif_nclx_color_profile_free(codes) }
        return .codes(
            primaries: Int(codes.pointee.color_primaries),
            transfer: Int(codes.pointee.transfer_characteristics))
    }

    private func check(_ error: heif_error) throws(ImageFailure) {
        switch Int(error.code) {
        case 0: return
        case SHIM_heif_error_Memory_allocation_error: throw .tooLarge
        case SHIM_heif_error_Unsupported_feature, SHIM_heif_error_Unsupported_filetype:
            throw .notSupported(
                "The codec of the image is not installed; install libheif-plugin-libde265,"
                    + " libheif-plugin-dav1d or libheif-freeworld.")
        default: throw .damaged
        }
    }
}
