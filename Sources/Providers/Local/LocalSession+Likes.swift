internal import ProviderKit

/// Likes that are stored locally.
extension LocalSession: LikeSession {
    var likesSource: SourceID { LocalSource.likes.id }

    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> LikeChange? {
        let isChanged = try await folder.likes.set(isLiked, by: user) { [folder] in
            let picture = try await folder.read(isBrief: true) { try Self.picture(photo, $0) }
            return LocalLikes.Target(picture: picture, file: folder.absolute(picture))
        }
        guard isChanged else { return nil }
        // The metadata may be incomplete: a like does not wait for the metadata of the file.
        let picture = try await folder.read(isBrief: true) { try Self.picture(photo, $0) }
        var changed = folder.photo(picture)
        changed.isLiked = isLiked
        return LikeChange(photo: changed, count: folder.likes.count(of: user))
    }

    /// Loads the likes. A failure is ignored, because pages without likes are better than no pages.
    func loadLikes() async { try? await folder.likes.load() }
}
