internal import ProviderKit

/// The likes, and the photos whose IDs are kept for the slideshow.
extension LocalSession {
    var likesSource: SourceID { LocalSource.likes.id }

    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> LikeChange? {
        guard try await folder.marks.set(isLiked, by: user, { try await target(photo) }) else {
            return nil
        }
        // The metadata may be incomplete: a like does not wait for the metadata of the file.
        let picture = try await target(photo).picture
        return LikeChange(
            photo: folder.marks.mark([folder.photo(picture)], for: user)[0],
            count: folder.marks.count(of: user))
    }

    private func target(_ photo: PhotoID) async throws -> LocalMarks.Target {
        let picture = try await folder.read { try Self.picture(photo, $0) }
        return LocalMarks.Target(picture: picture, file: folder.absolute(picture))
    }

    func setMarked(_ photos: Set<PhotoID>, _ mark: PhotoMark) async throws {
        let kind: Mark.Kind =
            switch mark {
            case .hidden: .hidden
            case .current: .current
            }
        try await folder.marks.setAll(kind, Set(photos.compactMap(\.row)), by: user) { row in
            try await target(PhotoID(row: row))
        }
    }
}
