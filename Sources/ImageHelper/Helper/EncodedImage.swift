internal import CPixbuf
internal import Glibc
internal import ImageMetadata
internal import ImageProtocol
internal import ProviderKit

/// An image file to be decoded.
struct EncodedImage {
    let library: PixbufLibrary
    let descriptor: Int32
    let format: ImageFormat
    let header: ImageHeader

    /// More pixels than the images of common cameras have.
    static let maximumPixels = 100_000_000
    /// Larger files are usually videos.
    private static let maximumBytes = 512 << 20

    /// Decodes the whole image, upright, with at most this width and height.
    func scaled(within pixels: Int) throws(ImageFailure) -> DecodedImage {
        try decode { width, height in min(1, Double(pixels) / Double(max(width, height))) }
    }

    /// Decodes the central square of the image, upright.
    func squared(_ pixels: Int) throws(ImageFailure) -> DecodedImage {
        // A smaller image is cropped before it is enlarged, so that a long and narrow image does not become huge.
        try decode { width, height in min(1, Double(pixels) / Double(min(width, height))) }
            .centralSquare().resized(pixels)
    }

    private func decode(
        _ factor: (Int, Int) -> Double
    ) throws(ImageFailure) -> DecodedImage {
        let (pixels, isTooMany) = header.width.multipliedReportingOverflow(by: header.height)
        guard !isTooMany, pixels <= Self.maximumPixels else { throw .tooLarge }
        let functions = library.functions
        let loader = try library.makeLoader(format)
        defer { functions.g_object_unref(UnsafeMutableRawPointer(loader)) }
        // The library may use another header of the file than the one read above.
        var request = SizeRequest(functions.gdk_pixbuf_loader_set_size)
        request.width = max(1, Int32(Double(header.width) * factor(header.width, header.height)))
        request.height = max(1, Int32(Double(header.height) * factor(header.width, header.height)))
        request.storedWidth = Int32(header.width)
        request.storedHeight = Int32(header.height)
        return try withUnsafeMutablePointer(to: &request) { request throws(ImageFailure) in
            connect(loader, request)
            var error: UnsafeMutablePointer<GError>?
            let isRead = try feed(loader, request, &error)
            // Errors after the first one carry no information.
            var second: UnsafeMutablePointer<GError>?
            let isClosed = functions.gdk_pixbuf_loader_close(loader, &second) != 0
            if error == nil {
                error = second
            } else if let second {
                functions.g_error_free(second)
            }
            if request.pointee.isTooLarge {
                _ = library.failure(error)
                throw .tooLarge
            }
            guard isRead, isClosed else { throw library.failure(error) }
            guard let image = functions.gdk_pixbuf_loader_get_pixbuf(loader) else {
                throw .damaged
            }
            _ = functions.g_object_ref(UnsafeMutableRawPointer(image))
            return try DecodedImage(library, owning: image).applyingOrientation(
                header.orientation, format)
        }
    }

    private func feed(
        _ loader: OpaquePointer, _ request: UnsafeMutablePointer<SizeRequest>,
        _ error: inout UnsafeMutablePointer<GError>?
    ) throws(ImageFailure) -> Bool {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var offset = 0
        while offset < Self.maximumBytes {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return count == 0 }
            offset += count
            let isTaken = library.functions.gdk_pixbuf_loader_write(
                loader, buffer.bindMemory(to: UInt8.self).baseAddress, gsize(count), &error)
            if isTaken == 0 || request.pointee.isTooLarge { return false }
        }
        return false
    }

    /// The size to request when the library reports the size of the image.
    private struct SizeRequest {
        let setSize: @convention(c) (OpaquePointer?, Int32, Int32) -> Void
        var storedWidth: Int32 = 0
        var storedHeight: Int32 = 0
        var width: Int32 = 0
        var height: Int32 = 0
        var isTooLarge = false

        init(_ setSize: @escaping @convention(c) (OpaquePointer?, Int32, Int32) -> Void) {
            self.setSize = setSize
        }
    }

    private func connect(_ loader: OpaquePointer, _ request: UnsafeMutablePointer<SizeRequest>) {
        let prepared:
            @convention(c) (OpaquePointer?, Int32, Int32, UnsafeMutableRawPointer?) -> Void = {
                loader, width, height, context in
                guard let request = context?.assumingMemoryBound(to: SizeRequest.self) else {
                    return
                }
                if Int(width) * Int(height) > EncodedImage.maximumPixels {
                    request.pointee.isTooLarge = true
                    // Stops the decoding.
                    request.pointee.setSize(loader, 0, 0)
                } else if width == request.pointee.storedHeight,
                    height == request.pointee.storedWidth
                {
                    // The library applies the orientation itself.
                    request.pointee.setSize(loader, request.pointee.height, request.pointee.width)
                } else {
                    request.pointee.setSize(loader, request.pointee.width, request.pointee.height)
                }
            }
        _ = library.functions.g_signal_connect_data(
            UnsafeMutableRawPointer(loader), "size-prepared",
            unsafeBitCast(prepared, to: GCallback.self), request, nil, GConnectFlags(rawValue: 0))
    }
}
