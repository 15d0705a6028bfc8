internal import CImages
internal import Glibc
internal import ImageMetadata
internal import ImageProtocol

/// A decoder of one format: the functions of its library, or none for a format without a library.
protocol ImageDecoder {
    /// Loads the library.
    ///
    /// - Returns: The decoder.
    /// - Throws: ``ImageFailure/notSupported(_:)`` with the package to install.
    static func load() throws(ImageFailure) -> Self

    /// Decodes an image, and passes its rows from the top to the bottom.
    ///
    /// - Parameters:
    ///   - file: The bytes of the file, which may change during the call.
    ///   - image: Receives the rows. It has the header of the file; the library may read another part of the file.
    /// - Throws: ``ImageFailure``.
    func decode(_ file: UnsafeRawBufferPointer, into image: ImageBuilder) throws(ImageFailure)
}

/// The decoders of one helper process. Their libraries are loaded before the restrictions are applied.
struct ImageDecoders {
    private typealias Loaded = Result<any ImageDecoder, ImageFailure>

    private var decoders: [ImageFormat: Loaded] = [:]
    private let colors: shim_color?
    /// The decoder whose library also encodes images.
    let png = Result { () throws(ImageFailure) in try shim_png.load() }
    /// Decompresses metadata.
    let decompressor: Decompressor

    /// - Parameter role: Determines the formats.
    init(_ role: HelperRole) {
        colors = try? loadLibrary(
            ["liblcms2.so.2"], package: "liblcms2-2", shim_color(), shim_color_load)
        decompressor = Self.decompressor()
        // The preview of a raw file is a JPEG.
        load(shim_jpeg.self, .jpeg, .raw)
        load(shim_png.self, .png)
        load(shim_webp.self, .webP)
        load(shim_gif.self, .gif)
        load(BMPDecoder.self, .bmp)
        switch role {
        case .decode: break
        case .decodeHEIF: load(shim_heif.self, .heic, .avif)
        case .decodeJPEGXL: load(shim_jxl.self, .jpegXL)
        case .decodeTIFF: load(shim_tiff.self, .tiff)
        }
    }

    private mutating func load(_ type: (some ImageDecoder).Type, _ formats: ImageFormat...) {
        let decoder = Loaded { () throws(ImageFailure) in try type.load() }
        for format in formats { decoders[format] = decoder }
    }

    /// Decodes an image.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - size: The requested size.
    ///   - output: An open memory file for the pixels; nil for memory of this process.
    /// - Returns: The image.
    /// - Throws: ``ImageFailure``.
    func decode(
        _ descriptor: Int32, _ size: ImageSizeRequest, sharedIn output: Int32?
    ) throws(ImageFailure) -> PixelImage {
        let bytes = FileBytes(descriptor: descriptor)
        guard let format = ImageFormat(bytes),
            let header = ImageHeader(bytes, format: format, decompressor),
            // A program may be writing the file.
            bytes.isAtRest || header.isWhole(bytes, format)
        else { throw .damaged }
        guard let decoder = try decoders[format]?.get() else { throw .misunderstood }
        guard bytes.count <= ImageLimits.fileBytes else { throw .tooLarge }
        try ImageLimits.check(header.width, header.height)
        guard
            let mapping = mmap(nil, bytes.count, PROT_READ, Int32(MAP_PRIVATE), descriptor, 0),
            mapping != MAP_FAILED
        else { throw .tooLarge }
        defer { munmap(mapping, bytes.count) }
        let file = UnsafeRawBufferPointer(start: mapping, count: bytes.count)
        let range = header.preview ?? 0..<bytes.count
        let image = ImageBuilder(size, header, colors, sharedIn: output)
        var isTruncated = false
        // The libraries do not all report that memory is missing.
        errno = 0
        do throws(ImageFailure) {
            try decoder.decode(UnsafeRawBufferPointer(rebasing: file[range]), into: image)
        } catch {
            if errno == ENOMEM { throw .tooLarge }
            guard error == .damaged else { throw error }
            if let kind = header.unsupportedKind {
                throw .notSupported("\(kind) are not supported; convert the image to PNG.")
            }
            guard bytes.isAtRest else { throw .damaged }
            isTruncated = true
        }
        return try image.finish(isTruncated: isTruncated)
    }

    private static func decompressor() -> Decompressor {
        let zlib = try? loadLibrary(["libz.so.1"], package: "zlib1g", shim_zlib(), shim_zlib_load)
        let brotli = try? loadLibrary(
            ["libbrotlidec.so.1"], package: "libbrotli1", shim_brotli(), shim_brotli_load)
        return { method, input in
            var output = [UInt8](repeating: 0, count: 1 << 20)
            let isComplete: Bool
            var count = output.count
            switch method {
            case .zlib:
                var length = UInt(count)
                isComplete = zlib?.uncompress(&output, &length, input, UInt(input.count)) == 0
                count = Int(length)
            case .brotli:
                isComplete =
                    brotli?.BrotliDecoderDecompress(input.count, input, &count, &output) == 1
            }
            return isComplete ? Array(output[..<count]) : nil
        }
    }
}

/// The limits of images, for all sources of images and for all clients.
enum ImageLimits {
    /// Larger files are usually videos. The file is mapped, and takes no memory of its own.
    static let fileBytes = 512 << 20
    /// More pixels than the images of cameras have. The rows of that many pixels are scaled within the time limit.
    private static let pixels = 500_000_000
    /// The largest side of a JPEG file. The weights for scaling take memory in proportion to it.
    private static let side = 65_535

    /// The factor that reduces an image to ``PixelSize/maximumBytes``, also if both sides are rounded up.
    static func factor(_ width: Int, _ height: Int) -> Double {
        (Double(PixelSize.maximumBytes / 4) / Double(width * height)).squareRoot() * 0.999
    }

    /// Checks the size of an image before it is decoded.
    ///
    /// - Throws: ``ImageFailure/tooLarge``.
    static func check(_ width: Int, _ height: Int) throws(ImageFailure) {
        guard width > 0, height > 0 else { throw .damaged }
        guard width <= side, height <= side, width * height <= pixels else { throw .tooLarge }
    }

    /// Allocates zeros for decoded rows. The caller frees them.
    ///
    /// - Throws: ``ImageFailure/tooLarge`` at the memory limit of the process.
    static func allocate(
        width: Int, height: Int, pixelBytes: Int = 4
    ) throws(ImageFailure) -> UnsafeMutableRawPointer {
        guard let memory = calloc(height, width * pixelBytes) else { throw .tooLarge }
        return memory
    }
}

/// Loads the functions of a library.
///
/// - Parameters:
///   - names: The file names of the library's versions, the preferred one first.
///   - package: The packages that contain the library, for the user.
///   - table: An empty table.
///   - load: Loads a library into a table; returns the reason of a failure.
/// - Returns: The table.
/// - Throws: ``ImageFailure/notSupported(_:)``.
func loadLibrary<Table>(
    _ names: [String], package: String, _ table: Table,
    _ load: (UnsafeMutablePointer<Table>?, UnsafePointer<CChar>?) -> UnsafePointer<CChar>?
) throws(ImageFailure) -> Table {
    var table = table
    var reason = ""
    for name in names {
        guard let failure = load(&table, name) else { return table }
        reason = String(cString: failure)
    }
    throw .notSupported(
        "Images of this type cannot be decoded on this system; install \(package) (\(reason)).")
}
