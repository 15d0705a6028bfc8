internal import ProviderKit

// The photos of an account, with its pending likes.
extension RemoteService {
    func page(
        _ source: SourceID, after cursor: String?, count: Int, fillsGaps: Bool
    ) async throws -> Page {
        let feed = try photos()
        return try await withCallTimeout { [self] in
            // Pending likes are shown from the first page on.
            try? await likes?.load()
            var page = try await readConsistently {
                try await feed.page(source, after: cursor, count: count, fillsGaps: fillsGaps)
            }
            page.photos = page.photos.map(decorate)
            return page
        }
    }

    func photo(_ id: PhotoID) async throws -> Photo {
        let feed = try photos()
        return try await withCallTimeout { [self] in
            try? await likes?.load()
            return decorate(try await readConsistently { try await feed.photo(id).photo })
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
            throw EngineError.notSupported("This service has no photos.")
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
                throw ProviderError.failed("The service did not respond in time; try again later.")
            }
        } catch ProviderError.unauthorized {
            guard case .needsLogin(let reason) = credentials.problem else {
                throw ProviderError.unauthorized
            }
            throw EngineError.needsLogin(reason)
        }
    }
}
