internal import Glibc
internal import ProviderKit
internal import Storage
internal import Translation

// The photos of an account, with its pending likes.
extension RemoteService {
    func page(
        _ source: SourceID, after cursor: String?, count: Int, fillsGaps: Bool
    ) async throws -> Page {
        let feed = try photos()
        // Pending likes are shown from the first page on.
        try? await likes?.load()
        func read(mayRequest: Bool) async throws -> Page? {
            var page = try await readConsistently {
                try await feed.page(
                    source, after: cursor, count: count, fillsGaps: fillsGaps,
                    mayRequest: mayRequest)
            }
            if let photos = page?.photos { page?.photos = photos.map(decorate) }
            return page
        }
        // The most frequent case is handled without a timer.
        if let page = try await read(mayRequest: false) { return page }
        let page = try await withCallTimeout { try await read(mayRequest: true) }
        return page ?? Page(photos: [], hasMore: false) { _ in nil }
    }

    func photo(_ id: PhotoID) async throws -> Photo {
        let feed = try photos()
        if let known = try await cachedPhoto(id) { return known }
        return try await withCallTimeout { [self] in
            decorate(try await readConsistently { try await feed.photo(id).photo })
        }
    }

    func cachedPhoto(_ id: PhotoID) async throws -> Photo? {
        let feed = try photos()
        try? await likes?.load()
        return try await readConsistently { try await feed.knownPhoto(id)?.photo }.map(decorate)
    }

    /// Repeats a read during which a like was confirmed or refused: the result may have the state before the like,
    /// which is no longer pending.
    private func readConsistently<Value>(_ read: () async throws -> Value) async throws -> Value {
        while true {
            let before = likes?.queue.revision
            let value = try await read()
            if likes?.queue.revision == before { return value }
        }
    }

    func sources() async throws -> [Source] {
        let feed = try photos()
        return try await withCallTimeout { try await feed.sources() }
    }

    func hasSource(_ id: SourceID) async throws -> Bool { try photos().hasSource(id) }

    func refresh(_ source: SourceID) async throws -> Int {
        let feed = try photos()
        return try await withCallTimeout { try await feed.refresh(source) }
    }

    func setMarked(_ photos: Set<PhotoID>, _ mark: PhotoMark) async throws {
        // The IDs are those of the service.
    }

    func photos() throws -> CachedFeed {
        guard let feed else {
            throw EngineError.notSupported(Message("This service has no photos."))
        }
        return feed
    }

    /// Returns the photo with its pending like.
    func decorate(_ photo: Photo) -> Photo { likes?.queue.decorate(photo) ?? photo }

    /// Runs `body` with the time limit of a call.
    ///
    /// - Throws: ``EngineError/needsLogin(_:)`` with the reason of the account's state if a new login is required; the
    ///   other errors of `body`.
    func withCallTimeout<Value: Sendable>(
        _ body: @escaping @MainActor () async throws -> Value
    ) async throws -> Value {
        do {
            return try await withTimeLimit(Self.callTimeout, clock, in: calls, body) {
                throw ProviderError.failed(
                    Message("The service did not respond in time; try again later."))
            }
        } catch ProviderError.unauthorized {
            guard case .needsLogin(let reason) = credentials.problem else {
                throw ProviderError.unauthorized
            }
            throw EngineError.needsLogin(reason)
        }
    }
}

// The profile of the user of an account.
extension RemoteService {
    /// Shows the cached profile, and fetches it again. The result also shows if the service is available and accepts
    /// the token.
    func restoreProfile() async {
        let cached = try? await stores.feeds.read { [account] (tables) throws(StorageError) in
            try tables.profile(account)
        }
        if let (profile, _) = cached ?? nil {
            await count(profile)
            var profile = profile
            // The image cache may have been deleted.
            if await !stores.images.unreadable([profile.avatar]).isEmpty { profile.avatar = "" }
            owner?.profileKnown(profile)
        }
        guard credentials.problem == nil, !isClosed else { return }
        await probe()
    }

    /// True if the profile was fetched less than ``profileFreshness`` ago.
    var isProfileFresh: Bool {
        profileFetched.map { $0 <= now && now < $0 + Self.profileFreshness } ?? false
    }

    func profile() async throws -> Profile? {
        guard let session = session.profileSession else { return nil }
        return try await withCallTimeout { [self] in
            try await profileRequests.run(account) { [self] in try await fetchProfile(session) }
        }
    }

    private func fetchProfile(_ session: any ProfileSession) async throws -> Profile {
        var profile = try await perform { try await session.profile() }
        if !isForgotten { owner?.identityReported(profile) }
        profile.avatar = try await avatarWithinTimeout(of: profile)
        isProfileDue = false
        guard !isForgotten else { throw CancellationError() }
        profileFetched = now
        await store(profile)
        await count(profile)
        guard !isForgotten else { throw CancellationError() }
        // The owner is notified here because the callers may have reached their time limit.
        owner?.profileKnown(profile)
        return profile
    }

    /// Stores the profile. Best effort: on a full disk, it is shown without being stored.
    private func store(_ profile: Profile) async {
        let now = now
        try? await stores.feeds.run { [account] (tables) throws(StorageError) in
            try tables.setProfile(account, profile, fetched: now)
        }
    }

    /// Returns the path of the avatar; empty if its fetch exceeds ``avatarTimeout``, which may be longer than the time
    /// limit of a call. In that case, the profile is updated when the avatar arrives.
    private func avatarWithinTimeout(of profile: Profile) async throws -> String {
        profileResponses += 1
        let response = profileResponses
        let fetch = Task { await avatar(of: profile) }
        return try await withTimeLimit(Self.avatarTimeout, clock) {
            await fetch.value
        } onTimeout: { [self] in
            Task {
                var profile = profile
                profile.avatar = await fetch.value
                guard !profile.avatar.isEmpty, profileResponses == response, !isForgotten else {
                    return
                }
                await store(profile)
                owner?.profileKnown(profile)
            }
            return ""
        }
    }

    func avatar(of profile: Profile) async -> String {
        guard !profile.avatarURL.isEmpty else { return "" }
        let key = ImageStore.Key(
            account: account, photo: PhotoID("avatar"), url: profile.avatarURL)
        return (try? await image(key)) ?? ""
    }

    /// Fetches the number of likes, which then replaces the number that was counted here.
    func refreshLikeCount() async {
        try? await stores.feeds.run { [account] (tables) throws(StorageError) in
            try tables.trustLikeCount(account)
        }
        await probe()
    }

    func setAvatar(_ file: String) async throws {
        throw EngineError.notSupported(Message("This service does not support avatars."))
    }

    private func count(_ profile: Profile) async {
        let count = try? await stores.feeds.read { [account] (tables) throws(StorageError) in
            try tables.likeCount(account)
        }
        likeCount = count ?? profile.likes ?? likeCount
    }
}
