internal import ProviderKit

/// A client for images whose errors state the reasons of refusals.
struct ImageClient: HTTPClient {
    let client: NextcloudClient

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await client.http.send(request)
    }

    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        let response = try await client.http.download(request, into: file, progress: progress)
        // The engine translates other responses.
        guard [400, 403, 503].contains(response.status) else { return response }
        let id = WebAddress(request.url)?.query.flatMap { URLEncoding.fields($0) }?
            .first { $0.name == "fileId" }?.value
        throw client.imageError(response, PhotoID(id ?? "")) ?? .failed("The image is missing.")
    }
}
