internal import ProviderKit

/// A picture of oneself, made of a photo.
extension Account {
    /// Makes a photo the user's avatar.
    ///
    /// - Parameter photo: The id of a photo of this account, or `ACCOUNT/ID` for one of another account that is
    ///   logged in, at whatever service.
    /// - Throws: ``EngineError/notSupported(_:)`` where nobody can set one; `ProviderError.notFound`; what
    ///   fetching or decoding the image throws.
    package func setAvatar(_ photo: String) async throws {
        guard provider.info.capabilities.contains(.avatar) else {
            throw EngineError.notSupported("\(provider.info.name) keeps no avatars.")
        }
        let session = try session() as? any AvatarSession
        guard let session else {
            throw EngineError.notSupported("\(provider.info.name) keeps no avatars.")
        }
        let (owner, id) = owner(of: photo)
        try await session.setAvatar(try await owner.avatarSource(id))
        try await refreshProfile()
    }

    /// The path of an image that is good enough for an avatar.
    private func avatarSource(_ photo: String) async throws -> String {
        // One that is at hand loses nothing; one of the network needs not be fetched in full.
        try await imagePath(photo, size: (direct == nil ? ImageSize.regular : .full).rawValue)
    }

    private func owner(of photo: String) -> (account: Account, id: String) {
        guard let slash = photo.firstIndex(of: "/"),
            let account = engine.account(AccountID(stored: String(photo[..<slash])))
        else { return (self, photo) }
        return (account, String(photo[photo.index(after: slash)...]))
    }
}
