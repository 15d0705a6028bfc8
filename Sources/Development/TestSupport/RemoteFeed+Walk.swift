package import ProviderKit

extension RemoteFeed {
    /// Returns the photos of a source, page by page.
    ///
    /// - Parameters:
    ///   - source: The ID of the source.
    ///   - between: Called after each page.
    /// - Throws: The error of a page.
    package func walk(_ source: String, between: () -> Void = {}) async throws -> [RemotePhoto] {
        var found: [RemotePhoto] = []
        var token: String?
        repeat {
            let page = try await fetchPage(SourceID(source), from: token)
            found += page.photos
            token = page.next
            between()
        } while token != nil
        return found
    }
}
