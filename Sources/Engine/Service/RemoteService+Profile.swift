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
            // The file may have been deleted with the rest of the images.
            if await !stores.images.unreadable([profile.avatar]).isEmpty { profile.avatar = "" }
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
        return try await patiently { [self] in
            try await profileRequests.run(account) { [self] in try await fetchProfile(session) }
        }
    }

    private func fetchProfile(_ session: any ProfileSession) async throws -> Profile {
        var profile = try await ask { try await session.profile() }
        if !isForgotten { owner?.identityReported(profile) }
        profile.avatar = try await avatarSoon(of: profile)
        isProfileDue = false
        guard !isForgotten else { throw CancellationError() }
        profileFetched = now
        await store(profile)
        await count(profile)
        guard !isForgotten else { throw CancellationError() }
        // The callers may have stopped waiting.
        owner?.profileKnown(profile)
        return profile
    }

    /// Stores the profile. Without room on the disk it can still be shown.
    private func store(_ profile: Profile) async {
        let now = now
        try? await stores.feeds.run { [account] (tables) throws(StorageError) in
            try tables.setProfile(account, profile, fetched: now)
        }
    }

    /// Returns the path of the avatar. An avatar that takes long is empty at first, and shown when it arrives:
    /// image bytes may take longer than a call.
    private func avatarSoon(of profile: Profile) async throws -> String {
        profileAnswers += 1
        let answer = profileAnswers
        let fetch = Task { await avatar(of: profile) }
        return try await withTimeLimit(Self.avatarTimeout, clock) {
            await fetch.value
        } onTimeout: { [self] in
            Task {
                var profile = profile
                profile.avatar = await fetch.value
                guard !profile.avatar.isEmpty, profileAnswers == answer, !isForgotten else {
                    return
                }
                await store(profile)
                owner?.profileKnown(profile)
            }
            return ""
        }
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
