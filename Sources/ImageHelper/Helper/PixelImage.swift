internal import Glibc
internal import ImageProtocol

/// The requested size of an image, with the orientation applied.
enum ImageSizeRequest {
    /// The whole image, scaled down to fit.
    case fit(width: Int, height: Int)
    /// The central square, scaled to this side.
    case square(Int)
}

/// The memory for the pixels of an image.
enum PixelMemory {
    /// Memory of this process.
    case allocated
    /// The pages of an open memory file, which the receiver of the pixels maps as well. It has at least the given size.
    case shared(descriptor: Int32, byteCount: Int)
}

/// An image of upright rows from the top to the bottom, in sRGB. Each pixel has the bytes blue, green, red and alpha,
/// multiplied by alpha.
final class PixelImage {
    let width: Int
    let height: Int
    /// The size of the whole image before it was scaled or cropped.
    let fullWidth: Int
    let fullHeight: Int
    let pixels: UnsafeMutablePointer<UInt8>
    private let isMapped: Bool

    var byteCount: Int { width * height * 4 }

    /// - Throws: ``ImageFailure/tooLarge``.
    init(
        width: Int, height: Int, fullWidth: Int, fullHeight: Int, _ memory: PixelMemory
    ) throws(ImageFailure) {
        self.width = width
        self.height = height
        self.fullWidth = fullWidth
        self.fullHeight = fullHeight
        let byteCount = width * height * 4
        switch memory {
        case .allocated:
            guard let memory = malloc(byteCount) else { throw .tooLarge }
            pixels = memory.assumingMemoryBound(to: UInt8.self)
            isMapped = false
        case .shared(let descriptor, let limit):
            guard byteCount <= limit,
                let memory = mmap(
                    nil, byteCount, PROT_READ | PROT_WRITE, Int32(MAP_SHARED), descriptor, 0),
                memory != MAP_FAILED
            else { throw .tooLarge }
            pixels = memory.assumingMemoryBound(to: UInt8.self)
            isMapped = true
        }
    }

    deinit {
        if isMapped { munmap(pixels, byteCount) } else { free(pixels) }
    }
}
