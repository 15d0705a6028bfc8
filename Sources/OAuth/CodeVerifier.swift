internal import CGLib
internal import ProviderKit

/// A text that nobody can guess, of letters, digits, `-` and `_`, from that many random bytes.
///
/// The generator must be fit for cryptography; `SystemRandomNumberGenerator` is getrandom(2).
nonisolated func makeNonce(
    byteCount: Int, using generator: inout some RandomNumberGenerator
) -> Secret {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    while bytes.count < byteCount {
        var word = generator.next().littleEndian
        withUnsafeBytes(of: &word) { bytes += $0.prefix(byteCount - bytes.count) }
    }
    var text = Base64URL.encode(bytes)
    defer {
        bytes.wipe()
        text.wipe()
    }
    return Secret(text)
}

/// Proves to the token endpoint that the code is ours: who saw the redirect does not know it.
///
/// Source: RFC 7636.
nonisolated struct CodeVerifier: Sendable {
    /// 43 letters, digits, `-` and `_`.
    let secret: Secret

    init(_ secret: Secret) { self.secret = secret }

    init(using generator: inout some RandomNumberGenerator) {
        secret = makeNonce(byteCount: 32, using: &generator)
    }

    /// What the authorization request tells of it: its hash, method `S256`.
    ///
    /// The C functions are `g_checksum_update` and `g_checksum_get_digest`.
    var challenge: String {
        var digest = [UInt8](repeating: 0, count: 32)
        // GLib has SHA-256 always; nil stands for an unknown kind.
        guard let checksum = g_checksum_new(G_CHECKSUM_SHA256) else { return "" }
        defer { g_checksum_free(checksum) }
        secret.withBytes { bytes in
            g_checksum_update(
                checksum, bytes.bindMemory(to: guchar.self).baseAddress, gssize(bytes.count))
        }
        var length = gsize(digest.count)
        g_checksum_get_digest(checksum, &digest, &length)
        return String(decoding: Base64URL.encode(digest), as: UTF8.self)
    }
}
