internal import Contract
internal import ProviderKit
internal import Toolkit

/// The image that stands for a photo until its own is there.
enum Placeholder {
    /// Returns the blur hash or the colour of a photo as a small image; nil if the photo has neither.
    static func texture(_ photo: Photo) -> Texture? {
        if let text = photo.photo.blurHash, let hash = BlurHash(text) {
            let width = 24
            let height = max(8, min(48, Int((Double(width) / photo.ratio).rounded())))
            return Texture(
                width: width, height: height, rgb: hash.pixels(width: width, height: height))
        }
        guard let color = photo.photo.color, color.hasPrefix("#"), color.utf8.count == 7,
            let value = UInt32(color.dropFirst(), radix: 16)
        else { return nil }
        return Texture(
            width: 1, height: 1,
            rgb: [UInt8(value >> 16), UInt8(value >> 8 & 255), UInt8(value & 255)])
    }
}
