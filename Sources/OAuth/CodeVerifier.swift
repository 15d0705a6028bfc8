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

/// A PKCE code verifier, which proves to the token endpoint that this program sent the authorization request.
///
/// Source: RFC 7636.
nonisolated struct CodeVerifier: Sendable {
    /// The verifier: 43 letters, digits, `-` and `_`.
    let secret: Secret

    init(_ secret: Secret) { self.secret = secret }

    init(using generator: inout some RandomNumberGenerator) {
        secret = makeNonce(byteCount: 32, using: &generator)
    }

    /// The code challenge of the authorization request: the hash of the verifier, method `S256`.
    ///
    /// The corresponding C functions are `g_checksum_update` and `g_checksum_get_digest`.
    var challenge: String {
        var digest = [UInt8](repeating: 0, count: 32)
        // nil means an unknown algorithm; GLib always has SHA-256.
        guard let checksum = g_checksum_new(G_CHECKSUM_SHA256) else { return "" }
        defer { g_checksum_free(checksum) }
        secret.withBytes { bytes in
            g_checksum_update(
                checksum, bytes.bindMemory(to: guchar.self).baseAddress, gssize(bytes.count))
        }
        var length = gsize(digest.count)
        g_checksum_get_digest(checksum, &digest, &length)
        return String(decoding: Base64.encodedBytesForURL(digest), as: UTF8.self)
    }
}
