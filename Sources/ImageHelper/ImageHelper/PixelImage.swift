internal import CImages
internal import Glibc
internal import ImageMetadata
internal import ImageProtocol

/// The requested size of an image, with the orientation applied.
enum ImageSizeRequest {
    /// The whole image, scaled down to fit.
    case fit(width: Int, height: Int)
    /// The central square, scaled to this side.
    case square(Int)
}

/// An image of upright rows from the top to the bottom, in sRGB. Each pixel has the bytes blue, green, red and alpha,
/// multiplied by alpha.
final class PixelImage {
    /// The size, and that of the whole image before it was scaled or cropped.
    let size: PixelSize
    let pixels: UnsafeMutablePointer<UInt8>

    var width: Int { size.width }
    var height: Int { size.height }

    /// - Parameters:
    ///   - size: The size.
    ///   - descriptor: An open memory file for the pixels, which their receiver maps as well; nil for memory of this
    ///     process.
    /// - Throws: ``ImageFailure/tooLarge``, also if the file is too small.
    init(_ size: PixelSize, sharedIn descriptor: Int32?) throws(ImageFailure) {
        self.size = size
        if let descriptor {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw .cannotWrite(errno) }
            guard size.byteCount <= status.st_size else { throw .tooLarge }
        }
        let flags = Int32(descriptor == nil ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED)
        guard
            let memory = mmap(
                nil, size.byteCount, PROT_READ | PROT_WRITE, flags, descriptor ?? -1, 0),
            memory != MAP_FAILED
        else { throw .tooLarge }
        pixels = memory.assumingMemoryBound(to: UInt8.self)
    }

    deinit { munmap(pixels, size.byteCount) }
}

extension PixelImage {
    /// Writes the image as a PNG file. The pixels are not valid afterwards.
    ///
    /// - Parameters:
    ///   - texts: Written as `tEXt` chunks; keys and texts are ASCII.
    ///   - library: The library that encodes the image.
    ///   - descriptor: The file.
    /// - Throws: ``ImageFailure``.
    func writePNG(
        _ texts: [String: String], _ library: shim_png, to descriptor: Int32
    ) throws(ImageFailure) {
        let isOpaque = (0..<width * height).allSatisfy { pixels[$0 * 4 + 3] == 255 }
        if isOpaque {
            dropAlpha()
        } else {
            divideByAlpha(UnsafeMutableBufferPointer(start: pixels, count: width * height * 4))
        }
        var bytes: UnsafeMutablePointer<CChar>?
        var byteCount = 0
        guard let stream = open_memstream(&bytes, &byteCount) else { throw .tooLarge }
        defer { free(bytes) }
        var image = png_image()
        image.version = UInt32(SHIM_PNG_IMAGE_VERSION)
        image.width = UInt32(width)
        image.height = UInt32(height)
        image.format = UInt32(isOpaque ? SHIM_PNG_FORMAT_BGR : SHIM_PNG_FORMAT_BGRA)
        let isWritten = library.png_image_write_to_stdio(
            &image, stream, 0, pixels, 0, nil)
        // The signature and the header chunk precede the texts.
        let headBytes = 33
        guard fclose(stream) == 0, isWritten != 0, let bytes, byteCount > headBytes else {
            throw .tooLarge
        }
        let chunks = PNGFile.chunks(texts)
        try writeAll(bytes, headBytes, to: descriptor)
        try writeAll(chunks, chunks.count, to: descriptor)
        try writeAll(bytes + headBytes, byteCount - headBytes, to: descriptor)
    }

    private func dropAlpha() {
        for index in 0..<width * height {
            for channel in 0..<3 { pixels[index * 3 + channel] = pixels[index * 4 + channel] }
        }
    }
}

/// Divides the colors of pixels by alpha, the last one of their channels.
func divideByAlpha<Sample: FixedWidthInteger>(
    _ samples: UnsafeMutableBufferPointer<Sample>, _ channels: Int = 4
) {
    let limit = UInt32(Sample.max)
    for pixel in stride(from: 0, to: samples.count - channels + 1, by: channels) {
        let alpha = UInt32(samples[pixel + channels - 1])
        guard alpha != 0, alpha != limit else { continue }
        for index in pixel..<pixel + channels - 1 {
            let color = (UInt32(samples[index]) * limit + alpha / 2) / alpha
            samples[index] = Sample(min(limit, color))
        }
    }
}

extension RowLayout {
    /// Creates the layout of decoded pixels with four channels of a byte.
    ///
    /// Of a gray image with a profile for gray, some programs write a color image, and lossy compression changes the colors
    /// a little: the pixels show if such a profile applies.
    init(
        _ colors: ColorDescription, of pixels: UnsafePointer<UInt8>, width: Int, height: Int,
        rowBytes: Int
    ) {
        self.init(colors: colors)
        guard case .profile = colors else { return }
        isGray = (0..<height).allSatisfy { y in
            let row = pixels + y * rowBytes
            return (0..<width).allSatisfy { x in
                let green = Int(row[x * 4 + 1])
                return abs(Int(row[x * 4]) - green) <= 4 && abs(Int(row[x * 4 + 2]) - green) <= 4
            }
        }
    }
}

/// Writes all bytes to a file.
///
/// - Throws: ``ImageFailure/cannotWrite(_:)``.
func writeAll(
    _ bytes: UnsafeRawPointer, _ count: Int, to descriptor: Int32
) throws(ImageFailure) {
    var done = 0
    while done < count {
        let written = write(descriptor, bytes + done, count - done)
        if written < 0 && errno == EINTR { continue }
        guard written > 0 else { throw .cannotWrite(written < 0 ? errno : EIO) }
        done += written
    }
}
