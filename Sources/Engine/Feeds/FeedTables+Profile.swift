internal import ProviderKit
internal import Storage

/// The profile of an account, as last sent by the service.
nonisolated extension FeedTables {
    func profile(_ account: AccountID) throws(StorageError) -> (Profile, fetched: Timestamp)? {
        try database.first(
            """
            SELECT username, name, bio, location, url, avatar, avatar_url, likes, fetched
            FROM profile WHERE account = ?
            """, [.text(account.text)]
        ) { row in
            var profile = Profile(username: row.text(0), name: row.text(1))
            profile.bio = row.text(2)
            profile.location = row.text(3)
            profile.url = row.text(4)
            profile.avatar = row.text(5)
            profile.avatarURL = row.text(6)
            profile.likes = row.optionalInteger(7).map(Int.init)
            return (profile, Timestamp(secondsSince1970: row.integer(8)))
        }
    }

    /// Stores a profile. The number of likes that was counted here stays within ``likeGracePeriod`` after a confirmed
    /// like, because the service may not have counted it.
    func setProfile(
        _ account: AccountID, _ profile: Profile, fetched: Timestamp
    ) throws(StorageError) {
        try database.query(
            """
            INSERT INTO profile (account, fetched, username, name, bio, location, url, avatar,
                avatar_url, likes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            ON CONFLICT (account) DO UPDATE SET fetched = ?2, username = ?3, name = ?4, bio = ?5,
                location = ?6, url = ?7, avatar = ?8, avatar_url = ?9,
                likes = CASE WHEN likes NOT NULL AND likes_changed <= ?2
                    AND ?2 < likes_changed + \(Self.likeGracePeriod.components.seconds)
                    THEN likes ELSE ?10 END
            """,
            [
                .text(account.text), .integer(fetched.secondsSince1970), .text(profile.username),
                .text(profile.name), .text(profile.bio), .text(profile.location),
                .text(profile.url), .text(profile.avatar), .text(profile.avatarURL),
                .integer(profile.likes),
            ])
    }

    /// Counts a like or unlike that was confirmed.
    func countLike(_ account: AccountID, _ isLiked: Bool, now: Timestamp) throws(StorageError) {
        try database.query(
            """
            UPDATE profile SET likes = max(0, likes + ?2), likes_changed = ?3
            WHERE account = ?1 AND likes NOT NULL
            """,
            [.text(account.text), .integer(isLiked ? 1 : -1), .integer(now.secondsSince1970)])
    }

    /// Ends the grace period, so that the next number of the service replaces the number that was counted here.
    func trustLikeCount(_ account: AccountID) throws(StorageError) {
        try database.query(
            "UPDATE profile SET likes_changed = 0 WHERE account = ?", [.text(account.text)])
    }

    /// Returns the number of likes: that of the service, or else the number of cached photos that are liked.
    func likeCount(_ account: AccountID) throws(StorageError) -> Int {
        if let likes = try profile(account)?.0.likes { return likes }
        return try database.first(
            "SELECT count(*) FROM photo WHERE account = ? AND is_liked", [.text(account.text)]
        ) { Int($0.integer(0)) } ?? 0
    }
}
