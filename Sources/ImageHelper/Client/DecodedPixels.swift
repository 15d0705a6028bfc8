internal import Glibc
internal import ImageProtocol

/// The pixels of an image: upright rows in sRGB, from the top to the bottom. Each pixel has the bytes blue, green, red and
/// alpha, multiplied by alpha.
///
/// The memory is shared with no other process that can write it.
// Sendable because the memory never changes.
package nonisolated final class DecodedPixels: @unchecked Sendable {
    package let width: Int
    package let height: Int
    /// The size of the whole image, upright.
    package let fullWidth: Int
    package let fullHeight: Int
    /// The rows, without gaps. The memory is valid as long as this object.
    package let bytes: UnsafeRawBufferPointer

    /// Takes ownership of mapped memory.
    init(_ size: PixelSize, _ bytes: UnsafeRawBufferPointer) {
        width = size.width
        height = size.height
        fullWidth = size.fullWidth
        fullHeight = size.fullHeight
        self.bytes = bytes
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
}
