package import ProviderKit
internal import Translation

/// A client of a service, which the server or the user registered.
///
/// That of a stored token has only the addresses for tokens; see ``OAuthToken/client``.
nonisolated package struct RegisteredClient: Sendable {
    /// The OAuth description of the server.
    package var description: OAuthDescription
    package let id: String
    /// nil for a service that issues no secret to applications of this kind.
    package let secret: Secret?

    package init(description: OAuthDescription, id: String, secret: Secret?) {
        self.description = description
        self.id = id
        self.secret = secret
    }

    private struct Stored: Codable {
        static let version = 1

        var version = Self.version
        var description: OAuthDescription
        var id: String
        var secret: String?
    }

    /// The client in its stored form.
    package var encoded: Secret {
        .encoding(Stored(description: description, id: id, secret: secret?.withText { $0 }))
    }

    /// Creates a client from its ``encoded`` form; nil for anything else, which causes a new registration.
    package init?(encoded: Secret) {
        guard let stored: Stored = encoded.decodeJSON(), stored.version == Stored.version else {
            return nil
        }
        self.init(
            description: stored.description, id: stored.id,
            secret: stored.secret.map { Secret($0) })
    }

    /// Registers the application. Sends one request, which the service may count: store the result.
    ///
    /// - Parameters:
    ///   - description: The OAuth description of the service. It must contain a registration.
    ///   - http: The HTTP client. It adds no token.
    ///   - now: The time.
    /// - Returns: The client.
    /// - Throws: ``OAuthError``, and the errors of the HTTP client.
    package static func register(
        _ description: OAuthDescription, _ http: any HTTPClient, now: Timestamp
    ) async throws -> RegisteredClient {
        guard let registration = description.registration else { throw OAuthError.invalidClient }
        var addresses = [RedirectListeners.address(port: description.redirectPort)]
        if description.showsCode { addresses.append(AuthorizationRequest.outOfBand) }
        var request = HTTPRequest(.post, registration.url)
        request.headers.append("Accept", "application/json")
        request.setForm(
            registration.fields.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
                + [(registration.redirectField, addresses.joined(separator: "\n"))])
        request.maximumBytes = SecretForm.maximumResponse
        let response = try await http.send(request)
        if let error = OAuthError(response, now: now, isRegistration: true) { throw error }
        let record = ServiceRecord(json: response.body)
        // The ID may be a number.
        let id =
            record?.text("client_id") ?? record?.value("client_id", as: Int64.self).map { "\($0)" }
        let secret = record?.text("client_secret").map { Secret($0) }
        guard let id, Secret(id).isCode, id.utf8.count <= 1024, secret?.isCode != false else {
            throw OAuthError.serviceFailed(Message("The registration response cannot be decoded."))
        }
        return RegisteredClient(description: description, id: id, secret: secret)
    }
}
