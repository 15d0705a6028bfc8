import FoundationEssentials
import TestSupport
import UnsplashSimulator

/// The requests of a minimal client.
extension SimulatedUnsplash {
    /// Sends a request `PATH` or `METHOD PATH` to the API, with a token or the client ID.
    func send(
        _ request: String, token: String? = nil
    ) async throws -> LoopbackClient.Response {
        let parts = ("GET " + request).split(separator: " ").suffix(2).map(String.init)
        let authorization = token.map { "Bearer \($0)" } ?? "Client-ID \(clientID)"
        return try await LoopbackClient.send(
            parts[0], apiURL + parts[1],
            headers: [("Authorization", authorization), ("Accept-Version", "v1")])
    }
}

extension LoopbackClient.Response {
    var document: Document {
        get throws { try JSONDecoder().decode(Document.self, from: Data(body)) }
    }
}
