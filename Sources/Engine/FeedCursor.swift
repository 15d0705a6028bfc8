package import ProviderKit
internal import Quoting

/// A place in a source, as clients hold it: the provider's own words, bound to the account and the source.
///
/// A cursor that was garbled, or that belongs elsewhere, is told from one that is good. It is no secret and
/// no defence: a client that forges one only confuses its own walk.
nonisolated package struct FeedCursor {
    package let text: String
    /// The provider's own words.
    package let place: String

    package init(_ place: String, account: AccountID, source: SourceID) {
        self.place = place
        text = Self.tag(place, account, source) + place
    }

    /// Reads a cursor that a client gave.
    ///
    /// - Throws: ``ProviderError/invalidArgument(_:)`` when it is not one of this account and source.
    package init(
        parsing text: String, account: AccountID, source: SourceID
    ) throws(ProviderError) {
        let place = String(text.dropFirst(Self.tagLength))
        guard text.hasPrefix(Self.tag(place, account, source)) else {
            throw .invalidArgument(
                "The cursor is none of source \(source.text.quoted) of \(account).")
        }
        self.text = text
        self.place = place
    }

    private static let tagLength = 16

    private static func tag(_ place: String, _ account: AccountID, _ source: SourceID) -> String {
        var hash = StableHash()
        for part in [place, account.text, source.text] {
            hash.combine(part.utf8)
            // No byte of UTF-8: the parts cannot run into each other.
            hash.combine([0xff])
        }
        return hash.value.hexDigits
    }
}
