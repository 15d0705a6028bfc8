package import ImageMetadata
internal import Translation

/// An image processor that rejects every job, for tests without an image helper.
package struct UnavailableImageProcessor: ImageProcessor {
    /// Creates the processor.
    package init() {}

    /// Throws ``ImageProcessorError/notSupported(_:)``.
    package func probe(
        _ file: [UInt8], inBackground: Bool
    ) async throws(ImageProcessorError) -> ImageFacts { throw Self.error }

    /// Throws ``ImageProcessorError/notSupported(_:)``.
    package func make(
        _ image: NewImage, from file: [UInt8], to destination: String
    ) async throws(ImageProcessorError) { throw Self.error }

    private static let error = ImageProcessorError.notSupported(
        Message(verbatim: "Images cannot be converted, because there is no image helper."))
}
