package import Translation

/// A service that reads and converts image files.
///
/// A sandboxed process decodes the files, so a malicious file can fail only its own call. Formats are detected by
/// content. Paths are absolute. A new file has the mode 0600 and replaces an existing file atomically. The folder of a
/// new file must exist.
package protocol ImageProcessor: Sendable {
    /// Reads the size and the origin of an image without decoding it.
    ///
    /// - Parameters:
    ///   - file: The path, as bytes of the file system.
    ///   - inBackground: False if a user waits for the result; such jobs run before all others.
    /// - Returns: The properties of the image.
    /// - Throws: ``ImageProcessorError`` except ``ImageProcessorError/storageFull``.
    func probe(
        _ file: [UInt8], inBackground: Bool
    ) async throws(ImageProcessorError) -> ImageFacts

    /// Writes a new image.
    ///
    /// - Parameters:
    ///   - image: The new image.
    ///   - file: The path of the file that is converted, as bytes of the file system.
    ///   - destination: The path of the new image.
    /// - Throws: ``ImageProcessorError``.
    func make(
        _ image: NewImage, from file: [UInt8], to destination: String
    ) async throws(ImageProcessorError)
}

/// An upright PNG that is written. Sizes are 1 to 4096 pixels.
package enum NewImage: Hashable, Sendable {
    /// A smaller image of at most this width and height, with the same aspect ratio. A smaller image keeps its size.
    /// The texts are written as `tEXt` chunks: keys have 1 to 79 bytes; keys and texts are ASCII.
    case scaled(pixels: Int, texts: [String: String])
    /// The central square of an image, with this width. A smaller image is enlarged.
    case square(pixels: Int)
}

/// The reasons for which an image job fails.
package enum ImageProcessorError: Error, Hashable, Sendable {
    /// The file does not exist or cannot be read.
    case notReadable(Message)
    /// The file has no image or a damaged one. A retry is useful only after the file changes.
    case damaged
    /// The image has too many pixels, or decoding takes too much memory or time.
    case tooLarge
    /// The job is not supported; the text names the missing part.
    case notSupported(Message)
    /// The disk is full.
    case storageFull
    /// The disk or the decoding process failed.
    case failed(Message)
}

/// The message for the user.
extension ImageProcessorError: ExplainedError, CustomStringConvertible {
    /// One sentence, in English and in the language of the user.
    package var message: Message {
        switch self {
        case .notReadable(let text), .notSupported(let text), .failed(let text): text
        case .damaged: Message("The file has no readable image; it may be damaged.")
        case .tooLarge: Message("The image is too large to be decoded.")
        case .storageFull: Message("The disk is full; free some space and try again.")
        }
    }
}
