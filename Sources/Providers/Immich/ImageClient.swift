internal import ProviderKit

/// A client for images whose errors name missing permissions.
struct ImageClient: HTTPClient {
    let client: ImmichClient

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await client.http.send(request)
    }

    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        var response = try await client.http.download(request, into: file, progress: progress)
        if response.status == 400, let original = Self.original(of: request.url) {
            // Versions before 1.131 do not have the size `fullsize`.
            var request = request
            request.url = original
            response = try await client.http.download(request, into: file, progress: progress)
        }
        guard response.status == 403 || response.status == 400, !response.isHTML else {
            return response
        }
        let permission =
            request.url.contains("/original")
            ? "asset.download"
            : request.url.contains("/users/") ? "userProfileImage.read" : "asset.view"
        let id = PhotoID(Self.asset(request.url))
        throw client.refusal(response, .photo(id), permission: permission).error
            ?? .failed("The server did not send the image.")
    }

    /// Returns the address of the original of a photo whose full size was requested; nil for another size.
    private static func original(of url: String) -> String? {
        guard let end = url.firstRange(of: "/thumbnail?size=fullsize") else { return nil }
        return url[..<end.lowerBound] + "/original"
    }

    private static func asset(_ url: String) -> String {
        let parts = url.split(separator: "/").map(String.init)
        return parts.lazy.compactMap(AssetID.init).first?.text ?? ""
    }
}
