package import EngineModel
internal import Feeds
internal import Glibc
internal import Images
internal import Likes
package import ProviderKit
internal import Quoting
internal import Storage
internal import System
internal import Translation

// The photos of an account, with its pending likes.
extension RemoteService {
    package func page(
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

    package func photo(_ id: PhotoID) async throws -> Photo {
        let feed = try photos()
        if let known = try await cachedPhoto(id) { return known }
        return try await withCallTimeout { [self] in
            decorate(try await readConsistently { try await feed.photo(id).photo })
        }
    }

    package func cachedPhoto(_ id: PhotoID) async throws -> Photo? {
        let feed = try photos()
        try? await likes?.load()
        return try await readConsistently { try await feed.knownPhoto(id)?.photo }.map(decorate)
    }

    /// Repeats a read during which a row of the outbox was removed: the result may have the state before the like.
    private func readConsistently<Value>(_ read: () async throws -> Value) async throws -> Value {
        while true {
            let before = likes?.outbox.removals
            let value = try await read()
            if likes?.outbox.removals == before { return value }
        }
    }

    package func sources() async throws -> [Source] {
        let feed = try photos()
        return try await withCallTimeout { try await feed.sources() }
    }

    package func refreshSources() async throws { _ = try await feed?.fetchSources() }

    package func hasSource(_ id: SourceID) async throws -> Bool { try photos().session.accepts(id) }

    package func refresh(_ source: SourceID) async throws -> Int {
        let feed = try photos()
        return try await withCallTimeout { try await feed.refresh(source) }
    }

    package func setMarked(_ photos: Set<PhotoID>, _ mark: PhotoMark) async throws {
        // The IDs are those of the service.
    }

    func photos() throws -> CachedFeed {
        guard let feed else {
            throw EngineError.notSupported(Message("This service has no photos."))
        }
        return feed
    }

    /// Returns a cached photo with its pending like, and without its place unless the user allows it.
    func decorate(_ photo: Photo) -> Photo {
        var photo = likes?.outbox.decorate(photo) ?? photo
        if !showsLocation { (photo.latitude, photo.longitude) = (nil, nil) }
        return photo
    }

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
        let cached = try? await stores.feeds.read(account) { try $0.profile() }
        if var profile = cached ?? nil {
            await count(profile)
            // The image cache may have been deleted.
            if await !stores.images.unreadable([profile.avatar]).isEmpty { profile.avatar = "" }
            report(.profile(profile))
        }
        guard credentials.problem == nil, !isClosed else { return }
        await probe()
    }

    /// True if the profile was fetched less than ``profileFreshness`` ago.
    package var isProfileFresh: Bool {
        profileFetched.map { $0 <= now && now < $0 + Self.profileFreshness } ?? false
    }

    package func profile() async throws -> Profile? {
        guard let session = session.profileSession else { return nil }
        return try await withCallTimeout { [self] in
            try await profileRequests.run(account) { [self] in try await fetchProfile(session) }
        }
    }

    private func fetchProfile(_ session: any ProfileSession) async throws -> Profile {
        var profile = try await perform { try await session.profile() }
        if !isForgotten { report(.user(profile)) }
        profile.avatar = try await avatarWithinTimeout(of: profile)
        isProfileDue = false
        guard !isForgotten else { throw CancellationError() }
        profileFetched = now
        await store(profile)
        await count(profile)
        guard !isForgotten else { throw CancellationError() }
        // The owner is notified here because the callers may have reached their time limit.
        report(.profile(profile))
        return profile
    }

    /// Stores the profile. Best effort: on a full disk, it is shown without being stored.
    private func store(_ profile: Profile) async {
        let now = now
        try? await stores.feeds.run(account) { try $0.setProfile(profile, fetched: now) }
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
                report(.profile(profile))
            }
            return ""
        }
    }

    package func avatar(of profile: Profile) async -> String {
        guard !profile.avatarURL.isEmpty else { return "" }
        let key = ImageStore.Key(account: account, photo: PhotoID("avatar"), url: profile.avatarURL)
        return (try? await image(key)) ?? ""
    }

    package func setAvatar(_ file: String) async throws {
        throw EngineError.notSupported(Message("This service does not support avatars."))
    }

    private func count(_ profile: Profile) async {
        let count = try? await stores.feeds.read(account) { try $0.likeCount() }
        likeCount = count ?? profile.likes ?? likeCount
    }
}

// The images of an account's photos.
extension RemoteService {
    package func imagePath(_ photo: PhotoID, _ size: ImageSize) async throws -> String {
        let located = try await locate(photo, size)
        let path = try await image(located.key, limit: located.limit)
        if located.isSizeUncertain { await measure(photo, located.key) }
        return path
    }

    package func cachedImage(_ photo: PhotoID, _ size: ImageSize) async throws -> String? {
        guard let known = try await photos().knownPhoto(photo), !known.remote.images.isEmpty else {
            return nil
        }
        return await stores.images.cachedPath(try key(known, size))
    }

    package func openImage(_ photo: PhotoID, _ size: ImageSize) async throws -> Int32 {
        let located = try await locate(photo, size)
        let descriptor = try await open(located.key, limit: located.limit)
        if located.isSizeUncertain { await measure(photo, located.key) }
        return descriptor
    }

    /// Stores the size of an image as that of its photo, if the service does not state the size.
    private func measure(_ photo: PhotoID, _ key: ImageStore.Key) async {
        guard measuredImages.insert(key).inserted, let size = await stores.images.size(of: key),
            !isForgotten, !isClosed
        else { return }
        // Best effort: the size is read again after the next start.
        let changed = try? await stores.feeds.run(account) {
            try $0.photos.setSize(photo, size.width, size.height)
        }
        if let changed = changed ?? nil { emit(.photosChanged([changed])) }
    }

    package func original(_ photo: PhotoID) async throws -> Original {
        let feed = try photos()
        return try await withCallTimeout { [self] in
            let cached = try await feed.photo(photo)
            let key = try await locatedOriginal(cached)
            // The image cache checks an image before it is passed to a client.
            return (
                open: { [self] in try await open(key, progress: $0) },
                count: { [self] in
                    try await perform { try await feed.session.countDownload(cached.remote) }
                }
            )
        }
    }

    /// Locates an image, which may require requests to the service.
    ///
    /// - Returns: The image; the rest of the time limit of the call; and true if the size of the photo is unknown or was
    ///   read from an image, which may have been a smaller one.
    private func locate(
        _ photo: PhotoID, _ size: ImageSize
    ) async throws -> (key: ImageStore.Key, limit: Duration, isSizeUncertain: Bool) {
        let feed = try photos()
        let start = ContinuousClock.now
        let known = try await feed.knownPhoto(photo)
        // The most frequent case is handled without a timer.
        if let known, !known.remote.images.isEmpty {
            return (try key(known, size), ImageStore.timeLimit, known.isSizeUncertain)
        }
        let (key, isSizeUncertain) = try await withCallTimeout { [self] in
            let found = if let known { known } else { try await feed.fetchCachedPhoto(photo) }
            return (try await located(found, size), found.isSizeUncertain)
        }
        let rest = ImageStore.timeLimit - (ContinuousClock.now - start)
        return (key, max(rest, .seconds(1)), isSizeUncertain)
    }

    /// Returns the address of an image: the one that came with the photo, or the one that the service returns on
    /// request.
    private func located(_ cached: CachedPhoto, _ size: ImageSize) async throws -> ImageStore.Key {
        guard cached.remote.images.isEmpty, let session = session.remoteImages,
            let url = try await perform({ try await session.imageAddress(cached.remote, size) })
        else { return try key(cached, size) }
        return ImageStore.Key(account: account, photo: cached.photo.id, url: url)
    }

    /// Returns the address of the file that a download writes.
    private func locatedOriginal(_ cached: CachedPhoto) async throws -> ImageStore.Key {
        guard let session = session.remoteImages,
            let url = session.downloadAddress(cached.remote)
        else { return try await located(cached, .full) }
        return ImageStore.Key(account: account, photo: cached.photo.id, url: url)
    }

    /// The HTTP client that fetches images; nil if they are public.
    private var imageClient: (any HTTPClient)? { session.remoteImages?.imageClient }

    private func key(_ cached: CachedPhoto, _ size: ImageSize) throws -> ImageStore.Key {
        // A missing size is replaced by the next larger one, or else by the largest one.
        let sizes = ImageSize.allCases
        let index = sizes.firstIndex(of: size) ?? 0
        let choices = sizes[index...] + sizes[..<index].reversed()
        guard let url = choices.lazy.compactMap({ cached.remote.images[$0] }).first else {
            throw ProviderError.notFound(
                Message(
                    "The service provides no image of photo {photo}.",
                    ["photo": cached.photo.id.text.quoted]))
        }
        return ImageStore.Key(account: account, photo: cached.photo.id, url: url)
    }

    /// Returns the path of an image in the cache, and fetches the image if necessary.
    ///
    /// - Parameters:
    ///   - key: The image.
    ///   - limit: The time limit until the first byte arrives.
    /// - Returns: The path.
    /// - Throws: See ``ImageStore/path(_:through:allowsLoopback:limit:progress:)``. The error has no effect on the
    ///   service health, because it does not concern the API, even if both have the same host.
    func image(
        _ key: ImageStore.Key, limit: Duration = ImageStore.timeLimit
    ) async throws -> String {
        try await untilLogout { [self] in
            try await stores.images.path(
                key, through: imageClient, allowsLoopback: allowsLoopback, limit: limit)
        }
    }

    /// Fetches an image. A logout cancels the fetch; its error differs from that of a cancellation by the caller.
    private func untilLogout<Value>(_ fetch: () async throws -> Value) async throws -> Value {
        guard !isForgotten else { throw Self.loggedOutError }
        do {
            return try await fetch()
        } catch ProviderError.rateLimited(let until?) {
            // The limit is announced once.
            if until != imagesLimitedUntil {
                imagesLimitedUntil = until
                report(.event(.changed(.state)))
            }
            throw ProviderError.rateLimited(until: until)
        } catch is CancellationError where isForgotten {
            throw Self.loggedOutError
        }
    }

    private func open(
        _ key: ImageStore.Key, limit: Duration = ImageStore.timeLimit,
        progress: @escaping (HTTPProgress) -> Void = { _ in }
    ) async throws -> Int32 {
        try await untilLogout { [self] in
            try await stores.images.open(
                key, through: imageClient, allowsLoopback: allowsLoopback, limit: limit,
                progress: progress)
        }
    }
}
