internal import ProviderKit

/// A client for images whose errors state the reasons of refusals.
struct ImageClient: HTTPClient {
    let client: NextcloudClient
    /// Finds a photo by its ID.
    let find: @Sendable (PhotoID) async throws -> FileRecord

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await client.http.send(request)
    }

    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        var response = try await client.http.download(request, into: file, progress: progress)
        let id = Self.photo(request.url)
        if response.status == 404, let id, let original = try await original(id, request.url) {
            var request = request
            request.url = original
            response = try await client.http.download(request, into: file, progress: progress)
        }
        // The engine translates other responses.
        guard [400, 403, 503].contains(response.status) else { return response }
        throw client.imageError(response, id ?? PhotoID("")) ?? .failed("The image is missing.")
    }

    /// Returns the address of the original in place of an image that was not found, because the file was moved or is too
    /// large for a preview; nil if there is no other address.
    ///
    /// Source: server 31, `preview_max_filesize_image` with the default 50 MB.
    private func original(_ id: PhotoID, _ url: String) async throws -> String? {
        guard let record = try? await find(id), record.isOriginalUsable else { return nil }
        let original = client.mapping.original(record)
        return original == url ? nil : original
    }

    /// Returns the photo of an address; nil for an avatar.
    private static func photo(_ url: String) -> PhotoID? {
        guard let address = WebAddress(url) else { return nil }
        let id = address.query.flatMap { URLEncoding.fields($0) }?
            .first { $0.name == "fileId" }?.value
        if let id { return PhotoID(id) }
        let parts = url.prefix { $0 != "?" }.split(separator: "/")
        return parts.dropLast().last == "preview" ? parts.last.map { PhotoID(String($0)) } : nil
    }
}
