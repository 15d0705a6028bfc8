internal import CPixbuf
internal import Glibc
internal import ImageMetadata
internal import ImageProtocol
internal import ProviderKit

/// A decoded image.
final class DecodedImage {
    private let library: PixbufLibrary
    private let image: OpaquePointer

    /// - Parameters:
    ///   - library: The library that created the image.
    ///   - image: A reference that this object takes over; nil if memory was exhausted.
    /// - Throws: ``ImageFailure/tooLarge``.
    init(_ library: PixbufLibrary, owning image: OpaquePointer?) throws(ImageFailure) {
        guard let image else { throw .tooLarge }
        self.library = library
        self.image = image
    }

    deinit { library.functions.g_object_unref(UnsafeMutableRawPointer(image)) }

    private var size: (width: Int32, height: Int32) {
        (
            library.functions.gdk_pixbuf_get_width(image),
            library.functions.gdk_pixbuf_get_height(image)
        )
    }

    /// Applies the orientation.
    ///
    /// The orientation that the library reports takes precedence over that of the file, because the library rotates
    /// some formats itself.
    func applyingOrientation(_ stored: ImageOrientation, _ format: ImageFormat) throws(ImageFailure)
        -> DecodedImage
    {
        let option = library.functions.gdk_pixbuf_get_option(image, "orientation")
            .flatMap { Int(String(cString: $0)) }.flatMap(ImageOrientation.init)
        let own = [.jpeg, .png, .webP].contains(format) ? stored : .upright
        switch option ?? own {
        case .upright: return self
        case .mirrored: return try flipped(horizontally: true)
        case .upsideDown: return try rotated(SHIM_GDK_PIXBUF_ROTATE_UPSIDEDOWN)
        case .upsideDownMirrored: return try flipped(horizontally: false)
        case .leftMirrored:
            return try rotated(SHIM_GDK_PIXBUF_ROTATE_CLOCKWISE)
                .flipped(horizontally: true)
        case .left: return try rotated(SHIM_GDK_PIXBUF_ROTATE_CLOCKWISE)
        case .rightMirrored:
            return try rotated(SHIM_GDK_PIXBUF_ROTATE_CLOCKWISE)
                .flipped(horizontally: false)
        case .right: return try rotated(SHIM_GDK_PIXBUF_ROTATE_COUNTERCLOCKWISE)
        }
    }

    private func rotated(_ angle: Int) throws(ImageFailure) -> DecodedImage {
        try DecodedImage(
            library, owning: library.functions.gdk_pixbuf_rotate_simple(image, UInt32(angle)))
    }

    private func flipped(horizontally: Bool) throws(ImageFailure) -> DecodedImage {
        try DecodedImage(
            library, owning: library.functions.gdk_pixbuf_flip(image, horizontally ? 1 : 0))
    }

    /// Crops the image to its central square.
    func centralSquare() throws(ImageFailure) -> DecodedImage {
        let (width, height) = size
        let side = min(width, height)
        return try DecodedImage(
            library,
            owning: library.functions.gdk_pixbuf_new_subpixbuf(
                image, (width - side) / 2, (height - side) / 2, side, side))
    }

    /// Scales the image to a square of this size.
    func resized(_ pixels: Int) throws(ImageFailure) -> DecodedImage {
        if size == (Int32(pixels), Int32(pixels)) { return self }
        return try DecodedImage(
            library,
            owning: library.functions.gdk_pixbuf_scale_simple(
                image, Int32(pixels), Int32(pixels), UInt32(SHIM_GDK_INTERP_BILINEAR)))
    }

    /// Encodes the image into an open file.
    func write(_ output: ImageOutput, to descriptor: Int32) throws(ImageFailure) {
        switch output {
        case .png(let texts):
            let texts = texts.sorted { $0.key < $1.key }
            try write("png", texts.map { ("tEXt::\($0.key)", $0.value) }, to: descriptor)
        case .jpeg(let quality): try write("jpeg", [("quality", "\(quality)")], to: descriptor)
        }
    }

    private func write(
        _ type: String, _ options: [(key: String, value: String)], to descriptor: Int32
    ) throws(ImageFailure) {
        var keys = options.map { strdup($0.key) } + [nil]
        var values = options.map { strdup($0.value) } + [nil]
        defer { for text in keys + values { free(text) } }
        let writer = DescriptorWriter(descriptor)
        var error: UnsafeMutablePointer<GError>?
        let isWritten = library.functions.gdk_pixbuf_save_to_callbackv(
            image,
            { bytes, count, _, context in
                DescriptorWriter.from(context).write(bytes, Int(count)) ? 1 : 0
            }, Unmanaged.passUnretained(writer).toOpaque(), type, &keys, &values, &error)
        try writer.check()
        guard isWritten != 0 else { throw library.failure(error) }
        if let error { library.functions.g_error_free(error) }
    }
}
