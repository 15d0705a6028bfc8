package import ProviderKit

extension RemoteFeed {
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
            let page = try await fetchPage(SourceID(source), from: token)
            found += page.photos
            token = page.next
            between()
        } while token != nil
        return found
    }
}
