package import ProviderKit
internal import Quoting

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
    package func position(
        of cursor: String, in source: SourceID
    ) throws(ProviderError) -> String {
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
