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

    /// Sends a form to the website.
    func sendForm(_ path: String, _ form: String) async throws -> LoopbackClient.Response {
        try await LoopbackClient.send(
            "POST", webURL + path,
            headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(form.utf8))
    }

    /// Returns the address that a program opens in the browser.
    func authorizationURL(
        redirectURI: String = "urn:ietf:wg:oauth:2.0:oob", scope: String = "public+write_likes",
        state: String = "s%2Ft"
    ) -> String {
        "\(webURL)/oauth/authorize?client_id=\(clientID)&redirect_uri=\(redirectURI)"
            + "&response_type=code&scope=\(scope)&state=\(state)"
    }

    /// Exchanges a code for a token.
    func exchange(
        _ code: String?, redirectURI: String = "urn:ietf:wg:oauth:2.0:oob", secret: String? = nil
    ) async throws -> LoopbackClient.Response {
        try await sendForm(
            "/oauth/token",
            "client_id=\(clientID)&client_secret=\(secret ?? clientSecret)&code=\(code ?? "")"
                + "&grant_type=authorization_code&redirect_uri=\(redirectURI)")
    }
}

extension LoopbackClient.Response {
    var document: Document {
        get throws { try JSONDecoder().decode(Document.self, from: Data(body)) }
    }

    /// The IDs of the photos in a list.
    var ids: [String] {
        get throws { try document.elements.compactMap { $0["id"]?.string } }
    }
}
