internal import CAdwaita

/// A decoded image.
// Sendable because a GdkTexture never changes, and its reference counter is atomic.
package nonisolated final class Texture: @unchecked Sendable {
    let raw: OpaquePointer
    package let width, height: Int
    /// True if some of the examined pixels are transparent.
    let isTransparent: Bool
    /// The size of its pixels in memory.
    package var byteCount: Int { width * height * 4 }

    /// Takes ownership of a reference to the rows without gaps.
    private init(
        _ width: Int, _ height: Int, _ format: GdkMemoryFormat, bytesPerPixel: Int,
        isTransparent: Bool = false, owning data: OpaquePointer?
    ) {
        self.isTransparent = isTransparent
        raw = gdk_memory_texture_new(
            Int32(width), Int32(height), format, data, gsize(width * bytesPerPixel))
        g_bytes_unref(data)
        self.width = width
        self.height = height
    }

    /// Creates an image of pixels with the components red, green and blue of one byte each.
    package convenience init(width: Int, height: Int, rgb: [UInt8]) {
        precondition(
            width > 0 && height > 0 && rgb.count == width * height * 3, "pixels are missing")
        let data = g_bytes_new(rgb, gsize(rgb.count))
        self.init(width, height, GDK_MEMORY_R8G8B8, bytesPerPixel: 3, owning: data)
    }

    /// Creates an image of pixels with the bytes blue, green, red and alpha, multiplied by alpha, without a copy.
    ///
    /// - Parameters:
    ///   - width: The width in pixels.
    ///   - height: The height in pixels.
    ///   - bytes: The rows without gaps.
    ///   - owner: Keeps the memory valid and unchanged; released with the image, on any thread.
    package convenience init(
        width: Int, height: Int, bytes: UnsafeRawBufferPointer, owner: any AnyObject & Sendable
    ) {
        precondition(
            width > 0 && height > 0 && bytes.count == width * height * 4, "pixels are missing")
        let data = g_bytes_new_with_free_func(
            bytes.baseAddress, gsize(bytes.count),
            { owner in
                guard let owner else { return }
                Unmanaged<AnyObject>.fromOpaque(owner).release()
            }, Unmanaged<AnyObject>.passRetained(owner).toOpaque())
        // A part of the pixels of all rows is sufficient: transparent images have empty areas.
        let step = 4 * max(1, width * height / 10_000 | 1)
        let isTransparent = stride(from: 3, to: bytes.count, by: step).contains { bytes[$0] < 255 }
        self.init(
            width, height, GDK_MEMORY_B8G8R8A8_PREMULTIPLIED, bytesPerPixel: 4,
            isTransparent: isTransparent, owning: data)
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(raw)) }
}

/// An image that fills its place.
package final class Picture: Widget {
    package init() { super.init(gtk_picture_new()) }

    /// - Parameters:
    ///   - texture: The image; nil for none.
    ///   - isWhole: True to show the whole image, also if it does not fill the place.
    package func setTexture(_ texture: Texture?, isWhole: Bool = false) {
        gtk_picture_set_content_fit(
            opaque, isWhole ? GTK_CONTENT_FIT_SCALE_DOWN : GTK_CONTENT_FIT_COVER)
        gtk_picture_set_paintable(opaque, texture?.raw)
    }
}

/// An icon of the icon theme.
package final class Icon: Widget {
    package init(_ name: String, size: Int = 16) {
        super.init(gtk_image_new_from_icon_name(name))
        gtk_image_set_pixel_size(opaque, Int32(size))
    }
}

/// A round picture of a user, or the initials.
package final class Avatar: Widget {
    package init(size: Int, name: String) {
        super.init(adw_avatar_new(Int32(size), name, 1))
    }

    package func setTexture(_ texture: Texture?) {
        adw_avatar_set_custom_image(opaque, texture?.raw)
    }
}
