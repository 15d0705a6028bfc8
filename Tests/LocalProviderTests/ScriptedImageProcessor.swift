import Glibc
import ImageMetadata
import TestSupport
import Translation

/// An image processor with scripted facts, which creates images of one color, and texts in place of squares.
final class ScriptedImageProcessor: ImageProcessor {
    /// The facts about photos, by the ends of their paths.
    let facts = Observed<[String: ImageFacts]>([:])
    /// The error to throw; nil for none.
    let error = Observed<ImageProcessorError?>(nil)
    /// The names of the files that were probed, in order.
    let probed = Observed<[String]>([])
    /// The sizes of the images that were created.
    let made = Observed<[String]>([])
    /// True while calls wait.
    let isHeld = Observed(false)

    func probe(
        _ file: [UInt8], inBackground: Bool
    ) async throws(ImageProcessorError) -> ImageFacts {
        let path = String(decoding: file, as: UTF8.self)
        probed.append(String(path[(path.lastIndex(of: "/") ?? path.startIndex)...].dropFirst()))
        _ = try? await isHeld.wait { $0 ? nil : true }
        if let error = error.value { throw error }
        guard let facts = facts.value.first(where: { path.hasSuffix($0.key) })?.value else {
            throw .damaged
        }
        return facts
    }

    func make(
        _ image: NewImage, from file: [UInt8], to destination: String
    ) async throws(ImageProcessorError) {
        if case .scaled(let pixels, _) = image { made.append("\(pixels)") }
        _ = try? await isHeld.wait { $0 ? nil : true }
        if let error = error.value { throw error }
        let bytes =
            switch image {
            case .scaled(let pixels, let texts):
                PNGFile.plain(0xff0000, width: pixels, height: 1, texts: texts)
            case .square: Array("square of ".utf8) + file
            }
        let descriptor = open(destination, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        guard write(descriptor, bytes, bytes.count) == bytes.count else { throw .storageFull }
    }
}
