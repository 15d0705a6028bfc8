package import ProviderKit

/// A client for the images of a service, which tries other addresses, and whose errors state the reasons of refusals.
package struct ImageClient: HTTPClient {
    private let http: any HTTPClient
    private let alternative: @Sendable (HTTPResponse, String) async throws -> String?
    private let refusal: @Sendable (HTTPResponse, String) async throws -> ProviderError?

    /// The maximum number of other addresses; one of the services has images of eleven widths.
    private static let maximumAlternatives = 11

    /// - Parameters:
    ///   - http: The client that sends the requests.
    ///   - alternative: Returns another address for a response and the requested address; nil if there is none.
    ///   - refusal: Returns the error for the last response and its address; nil if the engine is to translate the
    ///     response.
    package init(
        _ http: any HTTPClient,
        alternative: @escaping @Sendable (HTTPResponse, String) async throws -> String?,
        refusal: @escaping @Sendable (HTTPResponse, String) async throws -> ProviderError? = {
            _, _ in nil
        }
    ) {
        self.http = http
        self.alternative = alternative
        self.refusal = refusal
    }

    package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await http.send(request)
    }

    package func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        var response = try await http.download(request, into: file, progress: progress)
        var request = request
        for _ in 0..<Self.maximumAlternatives {
            guard let url = try await alternative(response, request.url), url != request.url else {
                break
            }
            request.url = url
            response = try await http.download(request, into: file, progress: progress)
        }
        if let error = try await refusal(response, request.url) { throw error }
        // The body of a success is in the file.
        if response.isOtherLogin {
            throw ProviderError.otherLogin(WebAddress(request.url)?.host ?? "the service")
        }
        return response
    }
}
