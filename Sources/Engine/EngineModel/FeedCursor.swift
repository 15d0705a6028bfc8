package import ProviderKit
internal import Quoting

/// A position in a source, as issued to clients: the page token of the provider, bound to the account and the source.
///
/// A checksum detects cursors that are damaged or belong to another source. It is no protection against forgery: a
/// forged cursor affects only the walk of the client that uses it.
nonisolated package enum FeedCursor {
    /// Returns the cursor for a position in the terms of the provider.
    package static func text(
        _ position: String, account: AccountID, source: SourceID
    ) -> String {
        tag(position, account, source) + position
    }

    /// Returns the position of a cursor from a client.
    ///
    /// - Throws: ``ProviderError/invalidArgument(_:)`` if it is not a cursor of this account and source.
    package static func position(
        of text: String, account: AccountID, source: SourceID
    ) throws(ProviderError) -> String {
        let position = String(text.dropFirst(tagLength))
        guard text.hasPrefix(tag(position, account, source)) else {
            throw .invalidArgument(
                "The cursor does not belong to source \(source.text.quoted) of \(account).")
        }
        return position
    }

    private static let tagLength = 16

    private static func tag(_ position: String, _ account: AccountID, _ source: SourceID) -> String
    {
        StableHash.digits(of: [position, account.text, source.text])
    }
}
