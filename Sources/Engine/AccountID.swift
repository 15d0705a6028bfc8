package import ProviderKit

/// Names an account for good: readable, stable, and an element of an object path.
///
/// Provider, `_` and the user name (for a federated service also the server) in `[A-Za-z0-9_]`, other bytes
/// as `_xx` in hex. A rename at the service changes nothing.
nonisolated package struct AccountID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// Takes an ID that was made before.
    package init(stored text: String) { self.text = text }

    /// Makes the ID of a new account.
    ///
    /// - Parameters:
    ///   - provider: The provider's id.
    ///   - identity: Who the account is.
    ///   - isTaken: Whether another account has an ID already; then `_2`, `_3`, … is appended.
    package init(provider: String, _ identity: AccountIdentity, isTaken: (AccountID) -> Bool) {
        let base = "\(provider)_\(Self.escape("\(identity)"))"
        var candidate = AccountID(stored: base)
        var number = 2
        while isTaken(candidate) {
            candidate = AccountID(stored: "\(base)_\(number)")
            number += 1
        }
        self = candidate
    }

    package var description: String { text }

    /// The name of the account's folder in the cache.
    ///
    /// It is the ID itself, unless that is too long for a file system, which accepts 255 bytes. A name that is made in its
    /// place has a `-`, which no ID has.
    var folderName: String {
        guard text.utf8.count > 200 else { return text }
        var hash = StableHash()
        hash.combine(text.utf8)
        return "\(text.prefix(150))-\(hash.value.hexDigits)"
    }

    private static func escape(_ name: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var escaped: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                escaped.append(byte)
            default:
                escaped += [UInt8(ascii: "_"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}
