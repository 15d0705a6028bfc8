internal import Glibc

/// A placeholder image in few characters.
///
/// Source: https://github.com/woltapp/blurhash/blob/master/Algorithm.md
nonisolated struct BlurHash {
    private let columns, rows: Int
    /// The components in linear light: red, green and blue of the average, then of each wave.
    private let factors: [SIMD3<Double>]

    private static let digits = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    /// Decodes the text; nil if it is invalid.
    init?(_ text: String) {
        let bytes = text.utf8.map { Self.digits.firstIndex(of: $0) }
        let values = bytes.compactMap { $0 }
        guard values.count == bytes.count, values.count >= 6 else { return nil }
        func number(_ range: Range<Int>) -> Int { values[range].reduce(0) { $0 * 83 + $1 } }
        columns = values[0] % 9 + 1
        rows = values[0] / 9 + 1
        guard rows <= 9, values.count == 4 + 2 * columns * rows else { return nil }
        let maximum = Double(values[1] + 1) / 166
        let average = number(2..<6)
        guard average <= 0xff_ffff else { return nil }
        var factors = [
            SIMD3(
                Self.linear(average >> 16), Self.linear(average >> 8 & 255),
                Self.linear(average & 255))
        ]
        for index in 1..<max(1, columns * rows) {
            let value = number(4 + index * 2..<6 + index * 2)
            func component(_ part: Int) -> Double {
                let signed = Double(part - 9) / 9
                return signed.magnitude * signed * maximum
            }
            factors.append(
                SIMD3(component(value / 361), component(value / 19 % 19), component(value % 19)))
        }
        self.factors = factors
    }

    /// Returns the pixels, each with one byte for red, green and blue.
    func pixels(width: Int, height: Int) -> [UInt8] {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * 3)
        for y in 0..<height {
            for x in 0..<width {
                var color = SIMD3<Double>.zero
                for row in 0..<rows {
                    let vertical = cos(Double.pi * Double(y * row) / Double(height))
                    for column in 0..<columns {
                        let basis = cos(Double.pi * Double(x * column) / Double(width)) * vertical
                        color += factors[row * columns + column] * basis
                    }
                }
                pixels += color.indices.map { Self.encoded(color[$0]) }
            }
        }
        return pixels
    }

    private static func linear(_ value: Int) -> Double {
        let value = Double(value) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func encoded(_ value: Double) -> UInt8 {
        let value = min(max(value, 0), 1)
        let encoded = value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
        return UInt8(encoded * 255 + 0.5)
    }
}
