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
    ///   - urgency: The priority of the call.
    /// - Returns: The properties of the image.
    /// - Throws: ``ImageProcessorError`` except ``ImageProcessorError/storageFull``.
    func probe(
        _ file: [UInt8], urgency: ImageUrgency
    ) async throws(ImageProcessorError) -> ImageFacts

    /// Writes a smaller, upright PNG with the same aspect ratio. A smaller image keeps its size.
    ///
    /// - Parameters:
    ///   - file: The path, as bytes of the file system.
    ///   - pixels: The maximum width and height, 1 to 4096.
    ///   - texts: Written as `tEXt` chunks. Keys have 1 to 79 bytes; keys and texts are ASCII.
    ///   - destination: The path of the new image.
    /// - Throws: ``ImageProcessorError``.
    func scale(
        _ file: [UInt8], pixels: Int, texts: [String: String], to destination: String
    ) async throws(ImageProcessorError)

    /// Writes a square, upright PNG of the centre of an image.
    ///
    /// - Parameters:
    ///   - file: The path, as bytes of the file system.
    ///   - pixels: The width and height, 1 to 4096. A smaller image is enlarged.
    ///   - destination: The path of the new image.
    /// - Throws: ``ImageProcessorError``.
    func square(
        _ file: [UInt8], pixels: Int, to destination: String
    ) async throws(ImageProcessorError)

    /// Draws a default avatar: initials on a colour, as a square PNG.
    ///
    /// A name always has the same colour. Without the libraries that draw text, the image has the colour only.
    ///
    /// - Parameters:
    ///   - name: The name of the user.
    ///   - pixels: The width and height, 1 to 4096.
    ///   - destination: The path of the new image.
    /// - Throws: ``ImageProcessorError``.
    func initials(
        of name: String, pixels: Int, to destination: String
    ) async throws(ImageProcessorError)
}

/// The priority of an image job.
package enum ImageUrgency: Sendable {
    /// A user waits for the result.
    case now
    /// Background work, which runs after all jobs with ``now``.
    case later
}

/// The camera of a photo, its settings and the place, as its file states them. Each property is nil if it is unknown.
package struct CaptureDetails: Hashable, Sendable {
    /// The name of the camera, with its maker.
    package var camera: String?
    /// The name of the lens.
    package var lens: String?
    /// The exposure time in seconds.
    package var exposureTime: Double?
    /// The f-number.
    package var aperture: Double?
    /// The sensitivity according to ISO.
    package var iso: Int?
    /// The latitude in degrees of WGS 84; nil if the longitude is unknown.
    package var latitude: Double?
    /// The longitude in degrees of WGS 84; nil if the latitude is unknown.
    package var longitude: Double?

    /// Creates unknown details.
    package init() {}

    /// Returns the name of a camera: the model, preceded by the maker unless the model contains it. Many models begin
    /// with one word of the maker, such as `NIKON D750` of `NIKON CORPORATION`.
    package static func camera(make: String?, model: String?) -> String? {
        guard let model, let make else { return model }
        let (lowercaseModel, lowercaseMake) = (model.lowercased(), make.lowercased())
        let makerWords = lowercaseMake.split(separator: " ")
        if lowercaseModel.contains(lowercaseMake) { return model }
        if let first = lowercaseModel.split(separator: " ").first, makerWords.contains(first) {
            return model
        }
        return "\(make) \(model)"
    }
}

/// The properties of an image file.
@dynamicMemberLookup
package struct ImageFacts: Hashable, Sendable {
    /// The width in pixels, after the orientation is applied.
    package var width: Int
    /// The height in pixels, after the orientation is applied.
    package var height: Int
    /// The time on the clock of the camera, as seconds since 1970 if the clock showed UTC; nil if it is unknown.
    package var clockSeconds: Int64?
    /// The offset of the clock from UTC in seconds; nil if it is unknown.
    package var clockOffset: Int64?
    /// The camera, its settings and the place.
    package var details = CaptureDetails()
    /// True if the image has several frames.
    package var isAnimated = false

    /// Creates the properties of an image.
    package init(width: Int, height: Int, taken: Timestamp? = nil) {
        self.width = width
        self.height = height
        clockSeconds = taken?.secondsSince1970
        clockOffset = taken.map { _ in 0 }
    }

    /// The time at which the photo was taken; nil if it is unknown. A time without a time zone is taken as local time.
    package var taken: Timestamp? {
        clockSeconds.map { seconds in
            clockOffset.map { Timestamp(secondsSince1970: seconds - $0) }
                ?? Timestamp(localClockSeconds: seconds)
        }
    }

    /// The date of ``taken`` on the clock of the camera.
    package var takenOn: CalendarDate? { clockSeconds.map(CalendarDate.init(clockSeconds:)) }

    /// A detail of the photo.
    package subscript<Value>(dynamicMember path: WritableKeyPath<CaptureDetails, Value>) -> Value {
        get { details[keyPath: path] }
        set { details[keyPath: path] = newValue }
    }
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

    /// The corresponding error of a provider.
    package var providerError: ProviderError {
        switch self {
        case .notSupported(let text): .notSupported(text)
        case .storageFull: .storageFull
        case .notReadable, .damaged, .tooLarge, .failed: .failed(message)
        }
    }
}
