internal import CAdwaita

/// A decoded image.
// Sendable because a GdkTexture never changes, and its reference counter is atomic.
package nonisolated final class Texture: @unchecked Sendable {
    let raw: OpaquePointer
    package let width: Int
    package let height: Int
    /// The size of its pixels in memory.
    package var byteCount: Int { width * height * 4 }

    /// Takes ownership of a reference.
    init(owning raw: OpaquePointer) {
        self.raw = raw
        width = Int(gdk_texture_get_width(raw))
        height = Int(gdk_texture_get_height(raw))
    }

    /// Creates an image of pixels with the components red, green and blue of one byte each.
    package convenience init(width: Int, height: Int, rgb: [UInt8]) {
        precondition(
            width > 0 && height > 0 && rgb.count == width * height * 3, "pixels are missing")
        let bytes = g_bytes_new(rgb, gsize(rgb.count))
        self.init(
            owning: gdk_memory_texture_new(
                Int32(width), Int32(height), GDK_MEMORY_R8G8B8, bytes, gsize(width * 3)))
        g_bytes_unref(bytes)
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(raw)) }
}

/// The reason why an image could not be decoded.
package struct ImageError: Error, Sendable {
    package let message: String
}

package enum ImageDecoder {
    /// Decodes an image. Blocks; for use on a thread of its own.
    ///
    /// - Parameters:
    ///   - descriptor: An open file. The function neither closes it nor relies on its position.
    ///   - width: The largest width of the result in pixels.
    ///   - height: The largest height of the result in pixels. The image keeps its proportions and is never enlarged.
    /// - Returns: The image.
    /// - Throws: ``ImageError`` if no decoder accepts the file.
    package nonisolated static func decode(
        descriptor: Int32, width: Int, height: Int
    ) throws(ImageError) -> Texture {
        lseek(descriptor, 0, SEEK_SET)
        var failure: UnsafeMutablePointer<GError>?
        let loader = gdk_pixbuf_loader_new()
        defer { g_object_unref(UnsafeMutableRawPointer(loader)) }
        let limits = SizeLimits(width: width, height: height)
        let context = Unmanaged.passRetained(limits)
        defer { context.release() }
        let prepared:
            @convention(c) (OpaquePointer, Int32, Int32, UnsafeMutableRawPointer) -> Void = {
                loader, width, height, context in
                let limits = Unmanaged<SizeLimits>.fromOpaque(context).takeUnretainedValue()
                guard width > 0, height > 0 else { return }
                let factor = min(
                    1, Double(limits.width) / Double(width), Double(limits.height) / Double(height))
                gdk_pixbuf_loader_set_size(
                    UnsafeMutableRawPointer(loader).assumingMemoryBound(to: GdkPixbufLoader.self),
                    max(1, Int32((Double(width) * factor).rounded())),
                    max(1, Int32((Double(height) * factor).rounded())))
            }
        g_signal_connect_data(
            UnsafeMutableRawPointer(loader), "size-prepared",
            unsafeBitCast(prepared, to: GCallback.self),
            context.toOpaque(), nil, GConnectFlags(0))
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var isGood = true
        while isGood {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            isGood = gdk_pixbuf_loader_write(loader, buffer, gsize(count), &failure) != 0
        }
        // The first failure is the cause.
        if !isGood {
            gdk_pixbuf_loader_close(loader, nil)
        } else {
            isGood = gdk_pixbuf_loader_close(loader, &failure) != 0
        }
        defer { g_clear_error(&failure) }
        guard isGood, let pixbuf = gdk_pixbuf_loader_get_pixbuf(loader),
            let upright = gdk_pixbuf_apply_embedded_orientation(pixbuf)
        else {
            throw ImageError(
                message: failure.map { text($0.pointee.message) } ?? "The image is damaged.")
        }
        defer { g_object_unref(UnsafeMutableRawPointer(upright)) }
        return Texture(owning: gdk_texture_new_for_pixbuf(upright))
    }
}

nonisolated private final class SizeLimits: Sendable {
    let width: Int
    let height: Int

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}
