internal import ProviderKit

/// A client for images that requests the next larger standard width if the service refuses the width of a thumbnail, as
/// when the standard widths change.
struct ThumbnailClient: HTTPClient {
    let http: any HTTPClient

    func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await http.send(request) }

    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        var request = request
        var response = try await http.download(request, into: file, progress: progress)
        // Source: the response to a width that is not standard, "Use thumbnail steps listed on https://w.wiki/GHai".
        while response.status == 400, let larger = Self.larger(request.url) {
            request.url = larger
            response = try await http.download(request, into: file, progress: progress)
        }
        return response
    }

    /// Returns the address of the thumbnail with the next larger standard width: `…/330px-Name.jpg`; nil if there is none.
    private static func larger(_ url: String) -> String? {
        guard let slash = url.lastIndex(of: "/"), let end = url[slash...].firstRange(of: "px-"),
            let width = Int(url[url.index(after: slash)..<end.lowerBound]),
            let next = CommonsClient.standardWidths.first(where: { $0 > width })
        else { return nil }
        return "\(url[...slash])\(next)\(url[end.lowerBound...])"
    }
}
