package import ImageMetadata

/// A request to the image helper. The message carries descriptors: first the file that is read, then ``outputs``.
package enum ImageJob: Hashable, Sendable {
    /// Reads the headers of a file. One descriptor, to read.
    case probe
    /// Makes a PNG file. Two descriptors, to read and to write.
    case make(NewImage)
    /// Decodes the image into a memory file, scaled down to this width and height. Two descriptors, to read and to
    /// write.
    case pixels(width: Int, height: Int)

    /// The number of files that are written.
    package var outputs: Int { if case .probe = self { 0 } else { 1 } }
}

/// The jobs that one helper process can perform. Their libraries are loaded before the restrictions are applied; those of
/// rare formats, which take up to 9 ms and 3 MB, only if they are needed.
package enum HelperRole: String, Sendable {
    /// Decodes the common formats. The other roles also do this.
    case decode
    case decodeHEIF = "decode-heif"
    case decodeJPEGXL = "decode-jxl"
    case decodeTIFF = "decode-tiff"

    /// Returns true if a process with this role can also perform the jobs of another role.
    package func includes(_ other: HelperRole) -> Bool {
        self == other || other == .decode
    }
}

/// A message from the image helper.
package enum ImageReply: Hashable, Sendable {
    /// The first message: the helper is ready. True if the rules for files are in force, which some kernels lack.
    case ready(confinesFiles: Bool)
    /// The image was written.
    case done
    /// The properties of the file. Names have at most ``maximumNameBytes``.
    case facts(ImageFacts)
    /// The pixels were written.
    case pixels(PixelSize)
    case failure(ImageFailure)

    /// The maximum length of the name of a camera or lens, in bytes of UTF-8.
    package static let maximumNameBytes = 1024
}

/// The size of decoded pixels. Each has the bytes blue, green, red and alpha, multiplied by alpha.
package struct PixelSize: Hashable, Sendable {
    package var width: Int
    package var height: Int
    /// The size of the whole image, upright.
    package var fullWidth: Int
    package var fullHeight: Int

    /// The largest number of bytes: a photo of 64 megapixels, or fewer pixels of a larger one.
    package static let maximumBytes = 256 << 20

    package init(width: Int, height: Int, fullWidth: Int, fullHeight: Int) {
        self.width = width
        self.height = height
        self.fullWidth = fullWidth
        self.fullHeight = fullHeight
    }

    package var byteCount: Int { width * height * 4 }
}

/// The reason why a job failed.
package enum ImageFailure: Error, Hashable, Sendable {
    case damaged
    case tooLarge
    /// The text names the missing software, for the user.
    case notSupported(String)
    /// Writing failed, with the `errno`.
    case cannotWrite(Int32)
    /// The job is malformed: the two programs have different versions, or one of them has an error.
    case misunderstood
}
