internal import Glibc
internal import ProviderKit
internal import Storage

// Who the user of an account is.
extension RemoteService {
    /// Shows the profile as it was, and asks for it again: that tells as well whether the service is there and
    /// takes the token.
    func bringProfile() async {
        let kept = try? await stores.feeds.run { [account] (tables) throws(StorageError) in
            try tables.profile(account)
        }
        if let (profile, _) = kept ?? nil {
            await count(profile)
            var profile = profile
            // The file may have gone with the rest of the images.
            if access(profile.avatar, R_OK) != 0 { profile.avatar = "" }
            owner?.profileKnown(profile)
        }
        guard credentials.trouble == nil, !isClosed else { return }
        await probe()
    }

    /// Whether it was asked for so lately that it is not asked for again.
    var isProfileYoung: Bool {
        profileFetched.map { $0 <= now && now < $0 + Self.profileFreshness } ?? false
    }

    func profile() async throws -> Profile? {
        guard let session = session as? any ProfileSession else { return nil }
        var profile = try await ask { try await session.profile() }
        profile.avatar = await avatar(of: profile)
        isProfileDue = false
        guard !isForgotten else { throw CancellationError() }
        let kept = profile
        let now = now
        // Where it cannot be kept, it can be shown still.
        try? await stores.feeds.run { [account] (tables) throws(StorageError) in
            try tables.setProfile(account, kept, fetched: now)
        }
        profileFetched = now
        await count(profile)
        return profile
    }

    /// The path of the picture of a person, fetched if need be; empty where there is none. Without its picture
    /// it is a profile still.
    func avatar(of profile: Profile) async -> String {
        guard !profile.avatarURL.isEmpty else { return "" }
        let key = ImageStore.Key(
            account: account, photo: PhotoID("avatar"), size: .thumb, url: profile.avatarURL)
        return (try? await image(key)) ?? ""
    }

    /// Asks the service how many photos the user likes, and takes its word for it.
    func countAgain() async {
        try? await stores.feeds.run { [account] (tables) throws(StorageError) in
            try tables.trustLikeCount(account)
        }
        await probe()
    }

    private func count(_ profile: Profile) async {
        let count = try? await stores.feeds.run { [account] (tables) throws(StorageError) in
            try tables.likeCount(account)
        }
        likeCount = count ?? profile.likes ?? likeCount
    }
}
