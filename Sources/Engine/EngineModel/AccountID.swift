package import ProviderKit
internal import Quoting

/// The permanent ID of an account: readable, stable, and valid as an element of an object path.
///
/// It consists of the provider's ID, `_`, and the user name (for a federated service also the server). Bytes outside of
/// `[A-Za-z0-9_]` are written as `_xx` in hexadecimal. A rename at the service does not change it.
nonisolated package struct AccountID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// The ID of no account.
    package static let invalid = AccountID(stored: "")

    /// Creates an ID from its stored text; ``invalid`` for a damaged one.
    package init(stored text: String) { self.text = text.pathElement }

    /// Creates the ID of a new account.
    ///
    /// - Parameters:
    ///   - provider: The ID of the provider.
    ///   - identity: The identity of the account.
    ///   - isTaken: Returns true if another account has an ID already. Then `_2`, `_3`, … is appended.
    package init(provider: String, _ identity: AccountIdentity, isTaken: (AccountID) -> Bool) {
        let words = [provider, "\(identity)"].map { $0.utf8.escaped(keeping: "_") }
        let base = words.joined(separator: "_")
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
    /// The name is the ID, unless the ID is too long for a file system, which accepts 255 bytes. A shortened name
    /// contains a `-`, which no ID contains.
    package var folderName: String {
        guard text.utf8.count > 200 else { return text }
        return "\(text.prefix(150))-\(StableHash(of: text.utf8).value.hexDigits)"
    }
}

/// The cursors of an account's sources, as issued to clients: the page token of the provider, bound to the account and
/// the source.
///
/// A checksum detects cursors that are damaged or belong to another source. It is no protection against forgery: a
/// forged cursor affects only the walk of the client that uses it.
nonisolated extension AccountID {
    /// Returns the cursor for a position in the terms of the provider.
    package func cursor(at position: String, in source: SourceID) -> String {
        tag(position, source) + position
    }

    /// Returns the position of a cursor from a client.
    ///
    /// - Throws: ``ProviderError/invalidArgument(_:)`` if it is not a cursor of this account and source.
    package func position(of cursor: String, in source: SourceID) throws(ProviderError) -> String {
        let position = String(cursor.dropFirst(Self.tagLength))
        guard cursor.hasPrefix(tag(position, source)) else {
            throw .invalidArgument(
                "The cursor does not belong to source \(source.text.quoted) of \(self).")
        }
        return position
    }

    private static let tagLength = 16

    private func tag(_ position: String, _ source: SourceID) -> String {
        StableHash.digits(of: [position, text, source.text])
    }
}

nonisolated extension String {
    /// The text, if it can be an element of an object path, else `_`. IDs that are damaged in a file do not end the process.
    package var pathElement: String {
        let isElement = unicodeScalars.allSatisfy {
            "a"..."z" ~= $0 || "A"..."Z" ~= $0 || "0"..."9" ~= $0 || $0 == "_"
        }
        return isElement && !isEmpty ? self : "_"
    }
}
