/// Names for files with photos.
enum FileName {
    /// The ending of the name, by the media type. Others have none: a service does not decide what a file is called.
    ///
    /// Source: the IANA registry of media types.
    private static let endings = [
        "image/avif": "avif", "image/bmp": "bmp", "image/gif": "gif", "image/heic": "heic",
        "image/heif": "heif", "image/jpeg": "jpg", "image/jxl": "jxl", "image/png": "png",
        "image/tiff": "tif", "image/webp": "webp",
    ]

    /// A name that is safe in every folder and on every command line: the photo's id, and an ending.
    ///
    /// - Parameters:
    ///   - id: Bytes other than letters, digits, `_`, and `-` and `.` within it, become `_xx` in hex.
    ///   - mediaType: As the photo has it.
    /// - Returns: The name, 205 bytes at most.
    static func photo(_ id: String, mediaType: String?) -> String {
        var name = ""
        for byte in id.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "-") where !name.isEmpty, UInt8(ascii: ".") where !name.isEmpty:
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                name += byte < 16 ? "_0" : "_"
                name += String(byte, radix: 16)
            }
        }
        // File systems take 255 bytes.
        name = String(name.prefix(200))
        return mediaType.flatMap { endings[$0] }.map { "\(name).\($0)" } ?? name
    }
}
