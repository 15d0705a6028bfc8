package import ProviderKit

extension RemoteFeed {
    /// Reads a page of a source, by default the first one.
    package func page(_ source: String, from token: String? = nil) async throws -> RemotePage {
        try await fetchPage(SourceID(source), from: token)
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
