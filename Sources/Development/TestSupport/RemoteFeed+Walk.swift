package import ProviderKit

extension RemoteFeed {
    /// Reads a page of a source, by default the first one.
    package func page(_ source: String, from token: String? = nil) async throws -> RemotePage {
        try await fetchPage(SourceID(source), from: token)
    }

    /// Reads a photo with the given ID.
    package func fetchPhoto(_ id: String) async throws -> RemotePhoto {
        try await fetchPhoto(PhotoID(id))
    }

    /// Reads all pages of a source.
    ///
    /// - Parameters:
    ///   - source: The ID of the source.
    ///   - between: Called after each page.
    /// - Returns: The photos, in the order of the pages.
    /// - Throws: The error of a page.
    package func walk(_ source: String, between: () -> Void = {}) async throws -> [RemotePhoto] {
        var found: [RemotePhoto] = []
        var token: String?
        repeat {
            let page = try await page(source, from: token)
            found += page.photos
            token = page.next
            between()
        } while token != nil
        return found
    }
}

extension RemoteLikes {
    /// Likes or unlikes a photo with the given ID.
    @discardableResult
    package func setLiked(_ id: String, _ isLiked: Bool) async throws -> Int? {
        try await setLiked(PhotoID(id), isLiked)
    }
}
