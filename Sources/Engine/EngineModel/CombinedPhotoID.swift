package import ProviderKit
internal import Quoting
internal import Translation

/// The ID of a photo of the combined account: `ACCOUNT_ID/PHOTO_ID`.
///
/// An account ID contains no `/`, so the first one separates both parts. The photo ID may contain any text.
nonisolated package struct CombinedPhotoID: ExactText {
    package let account: AccountID
    package let photo: PhotoID

    package init(_ account: AccountID, _ photo: PhotoID) {
        self.account = account
        self.photo = photo
    }

    /// Parses an ID from a client; nil if it has no account ID or no photo ID.
    package init?(_ text: String) {
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let photo = text[text.utf8.index(after: slash)...]
        guard slash != text.startIndex, !photo.isEmpty else { return nil }
        account = AccountID(stored: String(text[..<slash]))
        self.photo = PhotoID(String(photo))
    }

    package var text: String { "\(account)/\(photo)" }

    /// The ID as the ID of a photo of the combined account.
    package var asPhotoID: PhotoID { PhotoID(text) }

    /// Translates an error of the account for a client that uses the ID of the combined account.
    ///
    /// The message of ``ProviderError/notFound(_:)`` then has this ID in place of the ID within the account. Other
    /// errors are returned unchanged.
    package func translating(_ error: any Error) -> any Error {
        guard case ProviderError.notFound(let message) = error else { return error }
        return ProviderError.notFound(
            Message(verbatim: message.english.replacing(photo.text.quoted, with: text.quoted)))
    }
}

nonisolated extension Photo {
    /// Returns the photo with its ID in the combined account.
    package func combined(of account: AccountID) -> Photo {
        var photo = self
        photo.id = CombinedPhotoID(account, id).asPhotoID
        return photo
    }
}
