internal import ProviderKit
internal import Quoting
internal import Translation

// The images of an account's photos.
extension RemoteService {
    func imagePath(_ photo: PhotoID, _ size: ImageSize) async throws -> String {
        let located = try await locate(photo, size)
        let path = try await image(located.key, limit: located.limit)
        if located.isSizeUncertain { await measure(photo, located.key) }
        return path
    }

    func cachedImage(_ photo: PhotoID, _ size: ImageSize) async throws -> String? {
        guard let known = try await photos().knownPhoto(photo), !known.remote.images.isEmpty else {
            return nil
        }
        return await stores.images.cachedPath(try key(known, size))
    }

    func openImage(_ photo: PhotoID, _ size: ImageSize) async throws -> Int32 {
        let located = try await locate(photo, size)
        let descriptor = try await open(located.key, limit: located.limit)
        if located.isSizeUncertain { await measure(photo, located.key) }
        return descriptor
    }

    /// Stores the size of an image as that of its photo, if the service does not state the size.
    private func measure(_ photo: PhotoID, _ key: ImageStore.Key) async {
        guard measuredImages.insert(key).inserted, let size = await stores.images.size(of: key),
            !isForgotten
        else { return }
        // Best effort: the size is read again after the next start.
        let changed = try? await feed?.setSize(photo, size.width, size.height)
        if let changed = changed ?? nil { emit(.photosChanged([changed])) }
    }

    func original(_ photo: PhotoID) async throws -> Original {
        let feed = try photos()
        return try await withCallTimeout { [self] in
            let cached = try await feed.photo(photo)
            let key = try await locatedOriginal(cached)
            // The image cache checks an image before it is passed to a client.
            return Original(
                open: { [self] in try await open(key, progress: $0) },
                count: { try await feed.countDownload(cached) })
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
            let found = if let known { known } else { try await feed.fetchPhoto(photo) }
            return (try await located(found, size), found.isSizeUncertain)
        }
        let rest = ImageStore.timeLimit - (ContinuousClock.now - start)
        return (key, max(rest, .seconds(1)), isSizeUncertain)
    }

    /// Returns the address of an image: the one that came with the photo, or the one that the service returns on
    /// request.
    private func located(
        _ cached: CachedPhoto, _ size: ImageSize
    ) async throws -> ImageStore.Key {
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
        try checkWanted()
        return try await untilLogout { [self] in
            try await stores.images.path(
                key, through: imageClient, allowsLoopback: allowsLoopback, limit: limit)
        }
    }

    /// Fetches an image. A logout cancels the fetch; its error differs from that of a cancellation by the caller.
    private func untilLogout<Value>(_ fetch: () async throws -> Value) async throws -> Value {
        do {
            return try await fetch()
        } catch is CancellationError where isForgotten {
            throw Self.loggedOutError
        }
    }

    private func open(
        _ key: ImageStore.Key, limit: Duration = ImageStore.timeLimit,
        progress: @escaping (HTTPProgress) -> Void = { _ in }
    ) async throws -> Int32 {
        try checkWanted()
        return try await untilLogout { [self] in
            try await stores.images.open(
                key, through: imageClient, allowsLoopback: allowsLoopback, limit: limit,
                progress: progress)
        }
    }

    private func checkWanted() throws {
        guard !isForgotten else { throw Self.loggedOutError }
    }
}
