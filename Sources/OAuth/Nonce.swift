internal import CGLib
internal import ProviderKit

/// Creates an unpredictable text of letters, digits, `-` and `_`.
///
/// - Parameters:
///   - byteCount: The number of random bytes.
///   - generator: Must be cryptographically secure; `SystemRandomNumberGenerator` is getrandom(2).
/// - Returns: The text, in the Base64 alphabet for addresses.
nonisolated func makeNonce(
    byteCount: Int, using generator: inout some RandomNumberGenerator
) -> Secret {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    while bytes.count < byteCount {
        var word = generator.next().littleEndian
        withUnsafeBytes(of: &word) { bytes += $0.prefix(byteCount - bytes.count) }
    }
    var text = Base64.encodedBytesForURL(bytes)
    defer {
        bytes.wipe()
        text.wipe()
    }
    return Secret(text)
}

nonisolated extension Secret {
    /// The PKCE code challenge for this verifier: its hash, method `S256`.
    ///
    /// The corresponding C functions are `g_checksum_update` and `g_checksum_get_digest`.
    ///
    /// Source: RFC 7636.
    var codeChallenge: String {
        var digest = [UInt8](repeating: 0, count: 32)
        // nil means an unknown algorithm; GLib always has SHA-256.
        guard let checksum = g_checksum_new(G_CHECKSUM_SHA256) else { return "" }
        defer { g_checksum_free(checksum) }
        withBytes { bytes in
            g_checksum_update(
                checksum, bytes.bindMemory(to: guchar.self).baseAddress, gssize(bytes.count))
        }
        var length = gsize(digest.count)
        g_checksum_get_digest(checksum, &digest, &length)
        return String(decoding: Base64.encodedBytesForURL(digest), as: UTF8.self)
    }
}
