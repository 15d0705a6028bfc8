internal import ProviderKit

// The images of an account's photos.
extension RemoteService {
    func imagePath(_ photo: PhotoID, _ size: ImageSize) async throws -> String {
        try await image(try await located(photos().photo(photo), size))
    }

    func openImage(_ photo: PhotoID, _ size: ImageSize) async throws -> Int32 {
        try await open(try await located(photos().photo(photo), size))
    }

    func original(_ photo: PhotoID) async throws -> Original {
        let feed = try photos()
        return try await patiently { [self] in
            let cached = try await feed.photo(photo)
            let key = try await located(cached, .full)
            // Through the cache, which looks at an image before anybody gets it.
            return Original(
                open: { [self] in try await open(key, progress: $0) },
                count: { try await feed.countDownload(cached) })
        }
    }

    /// Where an image is: as the service told along with the photo, or as it says when it is asked for it.
    private func located(
        _ cached: CachedPhoto, _ size: ImageSize
    ) async throws -> ImageStore.Key {
        guard cached.remote.images.isEmpty, let session = session as? any RemoteImages,
            let url = try await ask({ try await session.imageAddress(cached.remote, size) })
        else { return try key(cached, size) }
        return ImageStore.Key(account: account, photo: cached.photo.id, size: size, url: url)
    }

    /// Who fetches images; nil where they lie open on the web.
    private var imageClient: (any HTTPClient)? { (session as? any RemoteImages)?.imageClient }

    private func key(_ cached: CachedPhoto, _ size: ImageSize) throws -> ImageStore.Key {
        // What is missing is served by the next larger one, and the largest by what there is.
        let sizes = ImageSize.allCases
        let index = sizes.firstIndex(of: size) ?? 0
        let choices = sizes[index...] + sizes[..<index].reversed()
        guard let url = choices.lazy.compactMap({ cached.remote.images[$0] }).first else {
            throw ProviderError.notFound(
                "The service names no image of photo \"\(cached.photo.id)\".")
        }
        return ImageStore.Key(account: account, photo: cached.photo.id, size: size, url: url)
    }

    /// The path of an image in the cache, fetched if it is not there.
    func image(_ key: ImageStore.Key) async throws -> String {
        try await reaching { [self] in
            try await stores.images.path(
                key, through: imageClient, allowsLoopback: allowsLoopback)
        }
    }

    private func open(
        _ key: ImageStore.Key, progress: @escaping (HTTPProgress) -> Void = { _ in }
    ) async throws -> Int32 {
        try await reaching { [self] in
            try await stores.images.open(
                key, through: imageClient, allowsLoopback: allowsLoopback, progress: progress)
        }
    }

    /// Takes note when the host of images cannot be reached.
    private func reaching<Value>(_ body: () async throws -> Value) async throws -> Value {
        guard !isForgotten else {
            throw EngineError.needsLogin("The account was logged out meanwhile.")
        }
        do {
            return try await body()
        } catch HTTPError.unreachable(let reason) {
            note(.unreachable(reason))
            throw HTTPError.unreachable(reason)
        }
    }
}
