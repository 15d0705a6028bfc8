internal import CPango
internal import Glibc
internal import ImageMetadata
internal import ImageProtocol
internal import Web

/// A generated avatar: initials on a background color.
struct InitialsAvatar {
    let initials: String
    /// The background color, `0xRRGGBB`.
    let color: UInt32
    let pixels: Int

    /// Background colors on which white text is readable.
    private static let colors: [UInt32] = [
        0xb53389, 0xc01c28, 0xc64600, 0x9c6e03, 0x5e7a1e, 0x26a269, 0x0b8078, 0x1a6fb5,
        0x3554c4, 0x613583, 0x813d9c, 0x63452c, 0x5e5c64, 0x3d6480,
    ]

    init(name: String, pixels: Int) {
        initials = Self.initials(of: name)
        let hash = StableHash(of: name.utf8).value
        color = Self.colors[Int(hash % UInt64(Self.colors.count))]
        self.pixels = pixels
    }

    /// Returns the first letters of the first and the last word; a question mark if there are none.
    static func initials(of name: String) -> String {
        let letters = name.split(whereSeparator: \.isWhitespace).compactMap { word in
            word.first { $0.isLetter || $0.isNumber }
        }
        guard let first = letters.first else { return "?" }
        let last = letters.count > 1 ? letters.last : nil
        return "\(first)\(last.map(String.init) ?? "")".uppercased()
    }

    /// Loads cairo and Pango.
    static func library(
        _ name: String = "libpangocairo-1.0.so.0"
    ) throws(ImageFailure) -> shim_drawing {
        try loadLibrary([name], package: "libpangocairo-1.0-0", shim_drawing(), shim_drawing_load)
    }

    /// Draws the avatar with Pango.
    func draw(_ functions: shim_drawing, to descriptor: Int32) throws(ImageFailure) {
        let surface = functions.cairo_image_surface_create(
            shim_cairo_format(SHIM_CAIRO_FORMAT_RGB24), Int32(pixels), Int32(pixels))
        defer { functions.cairo_surface_destroy(surface) }
        let context = functions.cairo_create(surface)
        defer { functions.cairo_destroy(context) }
        functions.cairo_set_source_rgb(
            context, Double(color >> 16) / 255, Double(color >> 8 & 0xff) / 255,
            Double(color & 0xff) / 255)
        functions.cairo_paint(context)
        functions.cairo_set_source_rgb(context, 1, 1, 1)
        let layout = functions.pango_cairo_create_layout(context)
        defer { functions.g_object_unref(UnsafeMutableRawPointer(layout)) }
        let font = functions.pango_font_description_from_string("Sans")
        defer { functions.pango_font_description_free(font) }
        let height = Double(pixels) * (initials.count > 1 ? 0.42 : 0.54)
        functions.pango_font_description_set_absolute_size(
            font, height * Double(SHIM_PANGO_SCALE))
        functions.pango_layout_set_font_description(layout, font)
        functions.pango_layout_set_text(layout, initials, -1)
        var ink = PangoRectangle()
        functions.pango_layout_get_pixel_extents(layout, &ink, nil)
        functions.cairo_move_to(
            context, Double(pixels - Int(ink.width)) / 2 - Double(ink.x),
            Double(pixels - Int(ink.height)) / 2 - Double(ink.y))
        functions.pango_cairo_show_layout(context, layout)
        var bytes: [UInt8] = []
        let status = withUnsafeMutablePointer(to: &bytes) { bytes in
            functions.cairo_surface_write_to_png_stream(
                surface,
                { context, part, count in
                    context?.assumingMemoryBound(to: [UInt8].self).pointee
                        .append(contentsOf: UnsafeBufferPointer(start: part, count: Int(count)))
                    return UInt32(SHIM_CAIRO_STATUS_SUCCESS)
                }, bytes)
        }
        guard status == UInt32(SHIM_CAIRO_STATUS_SUCCESS) else { throw .tooLarge }
        try writeAll(bytes, bytes.count, to: descriptor)
    }

    /// Writes an image of the background color without text.
    func fill(to descriptor: Int32) throws(ImageFailure) {
        let bytes = PNGFile.plain(color, width: pixels, height: pixels)
        try writeAll(bytes, bytes.count, to: descriptor)
    }
}
