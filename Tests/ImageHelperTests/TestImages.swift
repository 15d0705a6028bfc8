import ImageMetadata

@testable import UnsplashSimulator

/// Valid and invalid image files.
enum TestImages {
    static func jpeg(_ width: Int, _ height: Int, exif: [UInt8] = []) -> [UInt8] {
        let file = JPEGImage(width: width, height: height, color: "#204080").file
        return exif.isEmpty ? file : adding(exif, to: file)
    }

    /// Adds a segment of EXIF to a JPEG file.
    static func adding(_ exif: [UInt8], to file: [UInt8]) -> [UInt8] {
        let body = Array("Exif\0\0".utf8) + exif
        let length = body.count + 2
        return file[..<2] + [0xff, 0xe1, UInt8(length >> 8), UInt8(length & 255)] + body
            + file[2...]
    }

    static func png(_ width: Int, _ height: Int) -> [UInt8] {
        PNGFile.plain(0x204080, width: width, height: height)
    }

    /// A PNG file with a header that states this size, and hardly any pixels.
    static func pngHead(_ width: Int, _ height: Int) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] {
            withUnsafeBytes(of: UInt32(value).bigEndian, Array.init)
        }
        return Array(png(1, 1)[..<16]) + number(width) + number(height) + png(1, 1)[24...]
    }

    /// EXIF with an orientation and a capture time.
    static func exif(
        orientation: UInt16, taken: String = "", offset: String = ""
    ) -> [UInt8] {
        var block: [UInt8] = []
        func add(_ numbers: UInt16...) { for number in numbers { little(number) } }
        func little(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number.littleEndian) { block += $0 }
        }
        block += Array("II".utf8)
        add(42)
        little(UInt32(8))
        // The first table: two fields, and no other table.
        add(2, 0x112, 3, 1, 0, orientation, 0)
        add(0x8769, 4, 1, 0, 38, 0)
        little(UInt32(0))
        // The second table, at offset 38. Its texts begin at offset 68.
        add(2, 0x9003, 2, UInt16(taken.utf8.count + 1), 0, 68, 0)
        add(0x9011, 2, UInt16(offset.utf8.count + 1), 0, UInt16(69 + taken.utf8.count), 0)
        little(UInt32(0))
        return block + Array(taken.utf8) + [0] + Array(offset.utf8) + [0]
    }
}
