import FoundationEssentials
import TestSupport
import UnsplashSimulator

/// A client as thin as can be.
extension SimulatedUnsplash {
    /// Asks the API for `path`, or for `METHOD path`, for a user or for the application itself.
    func ask(
        _ request: String, token: String? = nil
    ) async throws -> LoopbackClient.Answer {
        let parts = ("GET " + request).split(separator: " ").suffix(2).map(String.init)
        let authorization = token.map { "Bearer \($0)" } ?? "Client-ID \(clientID)"
        return try await LoopbackClient.send(
            parts[0], apiURL + parts[1],
            headers: [("Authorization", authorization), ("Accept-Version", "v1")])
    }

    /// Sends a form to the website.
    func sendForm(_ path: String, _ form: String) async throws -> LoopbackClient.Answer {
        try await LoopbackClient.send(
            "POST", webURL + path,
            headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(form.utf8))
    }

    /// The address that a program opens in the browser.
    func authorizationURL(
        redirectURI: String = "urn:ietf:wg:oauth:2.0:oob", scope: String = "public+write_likes",
        state: String = "s%2Ft"
    ) -> String {
        "\(webURL)/oauth/authorize?client_id=\(clientID)&redirect_uri=\(redirectURI)"
            + "&response_type=code&scope=\(scope)&state=\(state)"
    }

    /// Changes a code for a token.
    func exchange(
        _ code: String?, redirectURI: String = "urn:ietf:wg:oauth:2.0:oob", secret: String? = nil
    ) async throws -> LoopbackClient.Answer {
        try await sendForm(
            "/oauth/token",
            "client_id=\(clientID)&client_secret=\(secret ?? clientSecret)&code=\(code ?? "")"
                + "&grant_type=authorization_code&redirect_uri=\(redirectURI)")
    }
}

extension LoopbackClient.Answer {
    var document: Document {
        get throws { try JSONDecoder().decode(Document.self, from: Data(body)) }
    }

    /// The ids of the photos of a list.
    var ids: [String] {
        get throws { try document.elements.compactMap { $0["id"]?.string } }
    }
}
