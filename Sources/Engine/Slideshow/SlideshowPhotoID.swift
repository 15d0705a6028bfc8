package import ProviderKit

/// The ID of a photo among all accounts: `ACCOUNT_ID/PHOTO_ID`.
nonisolated package struct SlideshowPhotoID: Hashable, Sendable, CustomStringConvertible {
    package let account: AccountID
    package let photo: PhotoID

    package init(account: AccountID, photo: PhotoID) {
        self.account = account
        self.photo = photo
    }

    /// Parses an ID from a client; nil if it has no account or no photo.
    package init?(_ text: String) {
        // An account ID contains no slash; a photo ID may contain one.
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let photo = text[text.utf8.index(after: slash)...]
        guard slash != text.startIndex, !photo.isEmpty else { return nil }
        self.init(
            account: AccountID(stored: String(text[..<slash])), photo: PhotoID(String(photo)))
    }

    package var text: String { "\(account.text)/\(photo.text)" }
    package var description: String { text }
}
