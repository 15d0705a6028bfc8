internal import FoundationEssentials

/// A ThumbHash: the compact form of a blurred preview of an image.
///
/// Source: evanw.github.io/thumbhash.
struct ThumbHash: Hashable, Sendable {
    private let bytes: [UInt8]

    /// The maximum length of a hash in bytes.
    private static let maximumLength = 64

    /// Decodes a hash; nil if the text is not a hash in Base64.
    init?(base64 text: String) {
        guard text.utf8.count <= 2 * Self.maximumLength, let data = Data(base64Encoded: text),
            5...Self.maximumLength ~= data.count
        else { return nil }
        bytes = Array(data)
        guard !hasAlpha || bytes.count > 5 else { return nil }
    }

    private var hasAlpha: Bool { bytes[2] & 0x80 != 0 }

    /// The average colour, `#RRGGBB`. A transparent image is shown on white.
    var averageColor: String {
        let header = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
        let luminance = Double(header & 63) / 63
        let yellowBlue = Double(header >> 6 & 63) / 31.5 - 1
        let redGreen = Double(header >> 12 & 63) / 31.5 - 1
        let alpha = hasAlpha ? Double(bytes[5] & 15) / 15 : 1
        let blue = luminance - 2 / 3 * yellowBlue
        let red = (3 * luminance - blue + redGreen) / 2
        let green = red - redGreen
        let digits = [red, green, blue].map { value in
            let level = min(max(value, 0), 1) * alpha + (1 - alpha)
            let number = Int((level * 255).rounded())
            return (number < 16 ? "0" : "") + String(number, radix: 16)
        }
        return "#" + digits.joined()
    }
}
