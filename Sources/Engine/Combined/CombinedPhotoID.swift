package import ProviderKit
internal import Quoting

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

    /// Translates an error of the account for a client that uses the ID of the combined account.
    ///
    /// The message of ``ProviderError/notFound(_:)`` then has this ID in place of the ID within the account. Other
    /// errors are returned unchanged.
    package func translating(_ error: any Error) -> any Error {
        guard case ProviderError.notFound(let message) = error else { return error }
        return ProviderError.notFound(message.replacing(photo.text.quoted, with: text.quoted))
    }
}

/// A photo of the combined account.
package struct CombinedPhoto {
    /// The account that has the photo.
    package let account: Account
    /// The photo, whose ID is that of the combined account.
    package let photo: Photo

    package init(_ account: Account, _ photo: Photo) {
        self.account = account
        var photo = photo
        photo.id = CombinedPhotoID(account.id, photo.id).asPhotoID
        self.photo = photo
    }
}

extension CombinedPhotoID {
    /// The ID as the ID of a photo of the combined account.
    nonisolated package var asPhotoID: PhotoID { PhotoID(text) }
}

extension AccountEvent {
    /// Returns the event with the IDs of the combined account in place of those of an account.
    package func combined(of account: Account) -> AccountEvent {
        func id(_ photo: PhotoID) -> CombinedPhotoID { CombinedPhotoID(account.id, photo) }
        return switch self {
        case .changed, .updated, .tokenRemains: self
        case .photosChanged(let photos):
            .photosChanged(photos.map { CombinedPhoto(account, $0).photo })
        case .photosRemoved(let photos): .photosRemoved(photos.map { id($0).asPhotoID })
        case .likeConfirmed(let photo, let isLiked, let likes):
            .likeConfirmed(id(photo).asPhotoID, isLiked: isLiked, likes: likes)
        case .likeFailed(let photo, let isWanted, let error):
            .likeFailed(id(photo).asPhotoID, isWanted: isWanted, id(photo).translating(error))
        }
    }
}
