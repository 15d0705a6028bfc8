internal import DBus

/// Likes, and the avatar.
extension AccountClient {
    /// Likes a photo.
    ///
    /// - Returns: The outcome; see ``LikeOutcome``.
    package func like(_ photo: String) async throws -> String {
        try await proxy.call(.like, "Like", photo)
    }

    /// Takes a like back.
    ///
    /// - Returns: The outcome; see ``LikeOutcome``.
    package func unlike(_ photo: String) async throws -> String {
        try await proxy.call(.like, "Unlike", photo)
    }

    /// Likes a photo that is not liked, or is about not to be; otherwise takes the like back.
    ///
    /// - Returns: Whether the photo is liked now, or will be; and the outcome.
    package func toggleLike(_ photo: String) async throws -> (liked: Bool, outcome: String) {
        let (liked, outcome): (Bool, String) = try await proxy.call(.like, "Toggle", photo)
        return (liked, outcome)
    }

    /// Makes a photo the user's avatar: of the account, or `ACCOUNT/ID`. It may have to be fetched first.
    package func setAvatar(_ photo: String) async throws {
        try await proxy.perform(.profile, "SetAvatar", photo, timeout: nil)
    }
}
