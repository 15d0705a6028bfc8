/// Looks into image files, and makes images of them.
///
/// Whatever a file holds, it harms nothing but the one call: files are told by their content, and decoded
/// by a process that can reach nothing else. Paths are those of the file system, absolute; new files are
/// only for the user (0600), written beside and renamed, so that there is either the old file or the whole
/// new one. The folder of a new file has to be there.
public protocol ImageProcessor: Sendable {
    /// Tells what a file says of its image, without decoding it.
    ///
    /// - Parameters:
    ///   - file: The path, in whatever encoding.
    ///   - urgency: Whether somebody waits.
    /// - Returns: What is known.
    /// - Throws: ``ImageProcessorError``, but for ``ImageProcessorError/storageFull``.
    func probe(
        _ file: [UInt8], urgency: ImageUrgency
    ) async throws(ImageProcessorError) -> ImageFacts

    /// Makes a smaller image of the same shape, upright. One that is small already keeps its size.
    ///
    /// - Parameters:
    ///   - file: The path, in whatever encoding.
    ///   - pixels: How wide and how high it may be, 1 to 4096.
    ///   - encoding: What it is written as.
    ///   - destination: The path of the new image.
    /// - Throws: ``ImageProcessorError``.
    func scale(
        _ file: [UInt8], pixels: Int, as encoding: ImageEncoding, to destination: String
    ) async throws(ImageProcessorError)

    /// Makes a square PNG of the middle of an image, upright.
    ///
    /// - Parameters:
    ///   - file: The path, in whatever encoding.
    ///   - pixels: Its width and height, 1 to 4096; made larger if need be.
    ///   - destination: The path of the new image.
    /// - Throws: ``ImageProcessorError``.
    func square(
        _ file: [UInt8], pixels: Int, to destination: String
    ) async throws(ImageProcessorError)

    /// Draws a picture for somebody who has none: initials on a colour, a square PNG.
    ///
    /// The same name gives the same colour, always. Without what text is drawn with, it has the colour
    /// alone.
    ///
    /// - Parameters:
    ///   - name: What the person is called.
    ///   - pixels: Its width and height, 1 to 4096.
    ///   - destination: The path of the new image.
    /// - Throws: ``ImageProcessorError``.
    func initials(
        of name: String, pixels: Int, to destination: String
    ) async throws(ImageProcessorError)
}

/// Whether somebody waits.
public enum ImageUrgency: Sendable {
    case now
    /// Whatever is asked ``now`` goes first.
    case later
}

/// What an image file tells of its image. nil is "unknown".
public struct ImageFacts: Hashable, Sendable {
    /// In pixels, as shown: with the orientation applied.
    public var width: Int
    /// In pixels, as shown: with the orientation applied.
    public var height: Int
    /// When the photo was taken. Where the camera noted no time zone, its clock is taken for the local time
    /// of this computer.
    public var taken: Timestamp?

    public init(width: Int, height: Int, taken: Timestamp? = nil) {
        self.width = width
        self.height = height
        self.taken = taken
    }
}

/// What an image is written as.
public enum ImageEncoding: Hashable, Sendable {
    /// PNG, with texts that go along as `tEXt`: keys of 1 to 79 bytes, Latin-1.
    case png(texts: [String: String] = [:])
    /// JPEG, with a quality of 1 to 100.
    case jpeg(quality: Int = 85)
}

/// Why there is no image, or nothing to tell of it.
public enum ImageProcessorError: Error, Hashable, Sendable {
    /// There is no such file, or it cannot be read.
    case notReadable(String)
    /// The file holds no image, or a damaged one. It will not do better until it changes.
    case damaged
    /// It has more pixels, or takes more memory or time, than anybody shall be given.
    case tooLarge
    /// Nothing here can do that; the text says what is missing.
    case notSupported(String)
    case storageFull
    /// The disk, or the process that decodes, does not do its part.
    case failed(String)
}

/// The sentence for a person.
extension ImageProcessorError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notReadable(let text), .notSupported(let text), .failed(let text): text
        case .damaged: "The file holds no image that can be read; it may be damaged."
        case .tooLarge: "The image is too large to be decoded."
        case .storageFull: "The disk is full; make some room and try again."
        }
    }

    /// What a provider throws in its place.
    public var asProviderError: ProviderError {
        switch self {
        case .notSupported(let text): .notSupported(text)
        case .storageFull: .storageFull
        case .notReadable, .damaged, .tooLarge, .failed: .failed(description)
        }
    }
}

/// The workshop of a world that has none.
public struct UnavailableImageProcessor: ImageProcessor {
    public init() {}

    public func probe(
        _ file: [UInt8], urgency: ImageUrgency
    ) async throws(ImageProcessorError) -> ImageFacts { throw Self.error }

    public func scale(
        _ file: [UInt8], pixels: Int, as encoding: ImageEncoding, to destination: String
    ) async throws(ImageProcessorError) { throw Self.error }

    public func square(
        _ file: [UInt8], pixels: Int, to destination: String
    ) async throws(ImageProcessorError) { throw Self.error }

    public func initials(
        of name: String, pixels: Int, to destination: String
    ) async throws(ImageProcessorError) { throw Self.error }

    private static let error = ImageProcessorError.notSupported(
        "Images are served as they are only.")
}
