internal import CImages
internal import Glibc
internal import ImageMetadata
internal import ImageProtocol

extension PixelImage {
    /// Writes the image as a PNG file. The pixels are not valid afterwards.
    ///
    /// - Parameters:
    ///   - texts: Written as `tEXt` chunks; keys and texts are ASCII.
    ///   - library: The library that encodes the image.
    ///   - descriptor: The file.
    /// - Throws: ``ImageFailure``.
    func writePNG(
        _ texts: [String: String], _ library: PNGLibrary, to descriptor: Int32
    ) throws(ImageFailure) {
        let isOpaque = (0..<width * height).allSatisfy { pixels[$0 * 4 + 3] == 255 }
        if isOpaque { dropAlpha() } else { divideByAlpha() }
        var bytes: UnsafeMutablePointer<CChar>?
        var byteCount = 0
        guard let stream = open_memstream(&bytes, &byteCount) else { throw .tooLarge }
        defer { free(bytes) }
        var image = png_image()
        image.version = UInt32(SHIM_PNG_IMAGE_VERSION)
        image.width = UInt32(width)
        image.height = UInt32(height)
        image.format = UInt32(isOpaque ? SHIM_PNG_FORMAT_BGR : SHIM_PNG_FORMAT_BGRA)
        let isWritten = library.functions.png_image_write_to_stdio(
            &image, stream, 0, pixels, 0, nil)
        // The signature and the header chunk precede the texts.
        let headBytes = 33
        guard fclose(stream) == 0, isWritten != 0, let bytes, byteCount > headBytes else {
            throw .tooLarge
        }
        let chunks = PNGFile.chunks(texts)
        let writer = DescriptorWriter(descriptor)
        _ = writer.write(bytes, headBytes)
        _ = writer.write(chunks, chunks.count)
        _ = writer.write(bytes + headBytes, byteCount - headBytes)
        try writer.check()
    }

    private func dropAlpha() {
        for index in 0..<width * height {
            for channel in 0..<3 { pixels[index * 3 + channel] = pixels[index * 4 + channel] }
        }
    }

    private func divideByAlpha() {
        for index in 0..<width * height {
            let pixel = pixels + index * 4
            let alpha = UInt32(pixel[3])
            guard alpha != 0, alpha != 255 else { continue }
            for channel in 0..<3 {
                pixel[channel] = UInt8(min(255, (UInt32(pixel[channel]) * 255 + alpha / 2) / alpha))
            }
        }
    }
}
