/// A function that decompresses metadata with libraries that only the image helper loads.
///
/// It returns nil for damaged bytes, and for more than 1 MiB.
package typealias Decompressor = (Compression, [UInt8]) -> [UInt8]?

/// A compression of metadata.
package enum Compression {
    /// RFC 1950.
    case zlib
    /// RFC 7932.
    case brotli
}
