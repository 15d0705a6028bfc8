/// The image formats of photos, detected by the first bytes of a file.
package enum ImageFormat: Int, CaseIterable, Sendable {
    // The raw values are stored: never reuse one.
    case jpeg = 1
    case png
    case webP
    case gif
    case tiff
    case bmp
    case avif
    case heic
    case jpegXL
    /// A raw file of a camera, whose preview is shown.
    case raw

    /// The number of bytes that detection needs, except for raw files with the signature of TIFF.
    package static let prefixBytes = 1024

    /// The media types, and the extensions of file names without a dot, the preferred ones first.
    ///
    /// Source: the IANA registry of media types.
    private var names: (mediaTypes: [String], extensions: [String]) {
        switch self {
        case .jpeg: (["image/jpeg"], ["jpg", "jpeg", "jpe", "jfif"])
        case .png: (["image/png"], ["png"])
        case .webP: (["image/webp"], ["webp"])
        case .gif: (["image/gif"], ["gif"])
        case .tiff: (["image/tiff"], ["tif", "tiff"])
        case .bmp: (["image/bmp"], ["bmp"])
        case .avif: (["image/avif"], ["avif"])
        case .heic: (["image/heic", "image/heif"], ["heic", "heif", "hif"])
        case .jpegXL: (["image/jxl"], ["jxl"])
        case .raw: (["image/x-raw"], ["raw"])
        }
    }

    /// The media type.
    package var mediaType: String { names.mediaTypes[0] }

    /// The extension of file names, without a dot.
    package var fileExtension: String { names.extensions[0] }

    /// All extensions of file names, without a dot and in lower case.
    package var fileExtensions: [String] { names.extensions }

    /// The extensions of the names of image files, without a dot and in lower case.
    package static let fileExtensions = Set(allCases.flatMap(\.fileExtensions))

    /// The media types of the formats that programs and browsers show without a conversion.
    package static let displayedTypes = Set([jpeg, png, webP, gif, avif].map(\.mediaType))

    /// Returns the format of a media type; nil if it is not one of these formats.
    package init?(mediaType: String) {
        guard let format = Self.allCases.first(where: { $0.names.mediaTypes.contains(mediaType) })
        else { return nil }
        self = format
    }

    /// Returns the format of the name of a file, or of the path of an address; nil without a known extension.
    package init?(name: some StringProtocol) {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        self.init(fileExtension: name[name.index(after: dot)...].lowercased())
    }

    /// Returns the format of an extension of file names in lower case; nil if it is not one of these formats.
    package init?(fileExtension text: String) {
        guard let format = Self.allCases.first(where: { $0.names.extensions.contains(text) })
        else { return nil }
        self = format
    }

    /// Detects the format of an original, which may also be a raw file.
    ///
    /// - Parameter prefix: The first bytes of the file.
    package init?(original prefix: some RandomAccessCollection<UInt8>) {
        let bytes = Array(prefix)
        let isRaw = Self.rawSignatures.contains { Bytes(bytes).hasText($0.text, at: $0.offset) }
        guard let format = ImageFormat(prefix: bytes) ?? (isRaw ? .raw : nil) else { return nil }
        self = format
    }

    /// Detects the format of a file; nil if it cannot be read, or is not in one of the formats that can be decoded.
    package init?(_ file: some ByteSource) {
        guard let prefix = file.bytes(at: 0, min(file.count, Self.prefixBytes)),
            let format = ImageFormat(original: prefix.array)
        else { return nil }
        let isRaw = format == .tiff && TIFFTable(firstOf: file)?.isRaw == true
        self = isRaw ? .raw : format
    }

    /// Detects the format of a file that begins with `prefix`; nil if it is not one of the formats that can be decoded.
    package init?(prefix: some RandomAccessCollection<UInt8>) {
        let bytes = Array(prefix)
        func has(_ text: StaticString, at offset: Int = 0) -> Bool {
            Bytes(bytes).hasText(text, at: offset)
        }
        if bytes.starts(with: [0xff, 0xd8, 0xff]) {
            self = .jpeg
        } else if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
            self = .png
        } else if has("RIFF"), has("WEBP", at: 8) {
            self = .webP
        } else if has("GIF87a") || has("GIF89a") {
            self = .gif
        } else if has("II+\0") || has("MM\0+") {
            // The variant with offsets of eight bytes, BigTIFF.
            self = .tiff
        } else if has("II*\0") || has("MM\0*"), !has("CR", at: 8) {
            // "CR" marks Canon's raw format, which has the signature of TIFF.
            self = .tiff
        } else if has("BM"), Self.isBitmapHeader(bytes) {
            self = .bmp
        } else if bytes.starts(with: [
            0, 0, 0, 0x0c, 0x4a, 0x58, 0x4c, 0x20, 0x0d, 0x0a, 0x87, 0x0a,
        ])
            || bytes.starts(with: [0xff, 0x0a])
        {
            self = .jpegXL
        } else if has("ftyp", at: 4), let format = Self.isoBrand(bytes) {
            self = format
        } else {
            return nil
        }
    }

    /// Returns true if a header with one of the known sizes follows. Many texts begin with "BM".
    private static func isBitmapHeader(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 18 else { return false }
        return (12...64 ~= bytes[14] && bytes[14] % 4 == 0 || [108, 124].contains(bytes[14]))
            && bytes[15...17].allSatisfy { $0 == 0 }
    }

    /// Returns the format of an ISO base media file: its major brand, or the first compatible brand of a known format. The
    /// brand of images of any codec has the lowest precedence.
    private static func isoBrand(_ bytes: [UInt8]) -> ImageFormat? {
        let boxBytes = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        let end = min(boxBytes, bytes.count)
        // Length, "ftyp", major brand, version, compatible brands.
        var format: ImageFormat?
        for offset in [8] + Array(stride(from: 16, to: end - 3, by: 4)) where offset + 4 <= end {
            switch String(decoding: bytes[offset..<offset + 4], as: UTF8.self) {
            case "avif", "avis": return .avif
            case "heic", "heix", "hevc", "hevx", "heim", "heis", "hevm", "hevs": return .heic
            case "mif1": format = .heic
            default: continue
            }
        }
        return format
    }
}
