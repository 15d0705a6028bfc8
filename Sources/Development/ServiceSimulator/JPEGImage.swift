/// A small JPEG file: horizontal bands of eight lines, from a colour to a lighter one.
///
/// The file is a valid baseline JPEG. Each block has a single colour. A block that equals the previous one takes six
/// bits.
///
/// Source: ITU-T T.81, JFIF 1.02.
package struct JPEGImage {
    let width: Int
    let height: Int
    /// Red, green and blue of the topmost band.
    let color: (red: Int, green: Int, blue: Int)

    /// Creates an image whose topmost band has a colour `#rrggbb`, or grey if it is missing or invalid.
    package init(width: Int, height: Int, color: String?) {
        self.width = min(max(width, 1), 65535)
        self.height = min(max(height, 1), 65535)
        let value = color.flatMap { Int($0.dropFirst(), radix: 16) } ?? 0x808080
        self.color = (value >> 16 & 255, value >> 8 & 255, value & 255)
    }

    package var file: [UInt8] {
        var bits = BitWriter()
        let columns = (width + 7) / 8
        let rows = (height + 7) / 8
        var previous = (0, 0, 0)
        for row in 0..<rows {
            let band = levels(row * 16 / rows)
            bits.writeLevel(band.0 - previous.0)
            bits.writeLevel(band.1 - previous.1)
            bits.writeLevel(band.2 - previous.2)
            previous = band
            // The other blocks of the row: zero difference and end of block, one bit each, for three components.
            bits.writeZeros(6 * (columns - 1))
        }
        return head + bits.finish() + [0xff, 0xd9]
    }

    /// Returns luminance and both chrominance values of a band, from -128 to 127: the DC coefficients for a quantiser
    /// of 8.
    private func levels(_ band: Int) -> (Int, Int, Int) {
        func lighter(_ value: Int) -> Double { Double(value + (255 - value) * band / 24) }
        let (red, green, blue) = (lighter(color.red), lighter(color.green), lighter(color.blue))
        let y = 0.299 * red + 0.587 * green + 0.114 * blue
        func clamped(_ value: Double) -> Int { min(max(Int(value.rounded()), -128), 127) }
        return (clamped(y - 128), clamped(0.564 * (blue - y)), clamped(0.713 * (red - y)))
    }

    private var head: [UInt8] {
        let size = [UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)]
        let components: [UInt8] = [1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]
        return [0xff, 0xd8]
            + segment(0xe0, Array("JFIF\0".utf8) + [1, 2, 0, 0, 1, 0, 1, 0, 0])
            + segment(0xdb, [0] + [UInt8](repeating: 8, count: 64))
            + segment(0xc0, [8] + size + [3] + components)
            // DC table: one code of one bit, eight of five bits.
            + segment(0xc4, [0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] + Array(0...8))
            // AC table: only the end of the block.
            + segment(0xc4, [0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
            + segment(0xda, [3, 1, 0, 2, 0, 3, 0, 0, 63, 0])
    }

    private func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xff, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 255)] + content
    }
}

/// A writer of the entropy-coded segment.
private struct BitWriter {
    private var bytes: [UInt8] = []
    private var current: UInt8 = 0
    private var free = 8

    /// Writes a DC difference and the end of its block.
    mutating func writeLevel(_ difference: Int) {
        let magnitude = abs(difference)
        let category = magnitude == 0 ? 0 : Int.bitWidth - magnitude.leadingZeroBitCount
        if category == 0 {
            write(0, count: 1)
        } else {
            write(0b10000 + category - 1, count: 5)
            write(difference > 0 ? difference : difference + (1 << category) - 1, count: category)
        }
        write(0, count: 1)
    }

    mutating func writeZeros(_ count: Int) {
        let first = min(count, free % 8)
        write(0, count: first)
        bytes += [UInt8](repeating: 0, count: (count - first) / 8)
        write(0, count: (count - first) % 8)
    }

    mutating func finish() -> [UInt8] {
        if free < 8 { write((1 << free) - 1, count: free) }
        return bytes
    }

    private mutating func write(_ value: Int, count: Int) {
        for index in (0..<count).reversed() {
            free -= 1
            current |= UInt8(value >> index & 1) << UInt8(free)
            guard free == 0 else { continue }
            bytes.append(current)
            // A zero byte follows 0xff, so that it is not a marker.
            if current == 0xff { bytes.append(0) }
            current = 0
            free = 8
        }
    }
}
