internal import DBus

/// The calls of `Like`, and the avatar.
extension AccountClient {
    /// Likes a photo.
    ///
    /// - Returns: The outcome; see ``LikeOutcome``.
    package func like(_ photo: String) async throws -> String {
        try await proxy.call(.like, "Like", photo)
    }

    /// Unlikes a photo.
    ///
    /// - Returns: The outcome; see ``LikeOutcome``.
    package func unlike(_ photo: String) async throws -> String {
        try await proxy.call(.like, "Unlike", photo)
    }

    /// Toggles the like of a photo. A pending like or unlike counts as confirmed.
    ///
    /// - Returns: True in `liked` if the photo is liked now, or will be; and the outcome.
    package func toggleLike(_ photo: String) async throws -> (liked: Bool, outcome: String) {
        let (liked, outcome): (Bool, String) = try await proxy.call(.like, "Toggle", photo)
        return (liked, outcome)
    }

    /// Makes a photo the user's avatar: a photo of the account, or `ACCOUNT/ID`. The daemon may have to fetch it first.
    package func setAvatar(_ photo: String) async throws {
        try await proxy.perform(.profile, "SetAvatar", photo, timeout: nil)
    }
}
