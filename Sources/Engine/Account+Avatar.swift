internal import ProviderKit

/// The avatar of an account.
extension Account {
    /// Uploads a photo as the user's avatar.
    ///
    /// - Parameter photo: The ID of a photo of this account, or `ACCOUNT/ID` for a photo of any other account that is
    ///   logged in.
    /// - Throws: ``EngineError/notSupported(_:)`` if the provider has no avatars; `ProviderError.notFound`; the errors
    ///   of fetching and decoding the image.
    package func setAvatar(_ photo: String) async throws {
        guard provider.info.capabilities.contains(.avatar) else {
            throw EngineError.notSupported("\(provider.info.name) does not support avatars.")
        }
        let photos = try session()
        let (account, id) = accountAndID(of: photo)
        try await photos.setAvatar(try await account.avatarSource(id))
        try await refreshProfile()
    }

    /// Returns the path of an image that is large enough for an avatar.
    private func avatarSource(_ photo: String) async throws -> String {
        // A local photo is used in full size. For a remote photo, a smaller download is sufficient.
        try await imagePath(photo, size: (isLocal ? ImageSize.full : .regular).rawValue)
    }

    private func accountAndID(of photo: String) -> (account: Account, id: String) {
        guard let slash = photo.firstIndex(of: "/"),
            let account = engine.accounts[AccountID(stored: String(photo[..<slash]))]
        else { return (self, photo) }
        return (account, String(photo[photo.index(after: slash)...]))
    }
}
