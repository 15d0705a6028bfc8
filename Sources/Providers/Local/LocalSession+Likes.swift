internal import ProviderKit

/// Likes that are kept here.
extension LocalSession: LikeSession {
    var likesSource: SourceID { LocalSource.likes.id }

    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> LikeChange? {
        let isChanged = try await folder.favourites.set(isLiked, by: user) { [folder] in
            let picture = try await folder.read(isBrief: true) { try Self.picture(photo, $0) }
            return LocalLikes.Place(picture: picture, file: folder.absolute(picture))
        }
        guard isChanged else { return nil }
        // As it is known: nobody waits until its file has been looked into.
        var changed = try await folder.read(isBrief: true) { Photo(try Self.picture(photo, $0)) }
        changed.isLiked = isLiked
        return LikeChange(photo: changed, count: folder.favourites.count(of: user))
    }

    /// Without them, pages are better than nothing.
    func loadLikes() async { try? await folder.favourites.load() }
}
