internal import FoundationEssentials
package import ProviderKit

/// What the secret store keeps of a server at which the application has made itself known.
nonisolated package struct RegisteredClient: Sendable {
    /// As the server lets its users in.
    package let description: OAuthDescription
    package let client: OAuthClient

    package init(description: OAuthDescription, client: OAuthClient) {
        self.description = description
        self.client = client
    }

    private struct Stored: Codable {
        static let version = 1

        var version = Self.version
        var description: OAuthDescription
        var id: String
        var secret: String?
    }

    /// The client as it is stored.
    package var encoded: Secret {
        let stored = Stored(
            description: description, id: client.id, secret: client.secret?.withText { $0 })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and numbers can always be encoded.
        guard var data = try? encoder.encode(stored) else { return Secret("") }
        defer { data.resetBytes(in: data.indices) }
        return data.withUnsafeBytes { Secret(copying: $0) }
    }

    /// Reads what ``encoded`` gave; nil for anything else: then the application makes itself known anew.
    package init?(encoded: Secret) {
        var data = encoded.withBytes { Data($0) }
        defer { data.resetBytes(in: data.indices) }
        guard let stored = try? JSONDecoder().decode(Stored.self, from: data),
            stored.version == Stored.version
        else { return nil }
        self.init(
            description: stored.description,
            client: OAuthClient(id: stored.id, secret: stored.secret.map { Secret($0) }))
    }
}

/// Where an application makes itself known.
nonisolated package enum RegistrationEndpoint {
    /// How large an answer may be, in bytes.
    private static let maximumBytes = 64 << 10

    /// Makes the application known. Sends one request, which may count at the service: the result is to be kept.
    ///
    /// - Parameters:
    ///   - description: Of the service; must have a registration.
    ///   - http: Carries no token.
    ///   - now: The time.
    /// - Returns: What the service knows the application by.
    /// - Throws: ``OAuthError``, what the HTTP client throws.
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
        request.maximumBytes = maximumBytes
        let response = try await http.send(request)
        if let error = OAuthError(response, now: now) { throw error }
        guard let client = client(response.body) else {
            throw OAuthError.serviceFailed("The service's answer is no registration.")
        }
        return RegisteredClient(description: description, client: client)
    }

    /// Reads `client_id`, which may be a number, and `client_secret`.
    private static func client(_ body: [UInt8]) -> OAuthClient? {
        struct Fields: Decodable {
            let id: String?
            let secret: String?

            private enum Key: String, CodingKey {
                case id = "client_id"
                case secret = "client_secret"
            }

            init(from decoder: any Decoder) throws {
                let fields = try decoder.container(keyedBy: Key.self)
                id =
                    (try? fields.decode(String.self, forKey: .id))
                    ?? (try? fields.decode(Int64.self, forKey: .id)).map { "\($0)" }
                secret = try? fields.decode(String.self, forKey: .secret)
            }
        }
        guard let fields = try? JSONDecoder().decode(Fields.self, from: Data(body)),
            let id = fields.id, Secret(id).isCode, id.utf8.count <= 1024
        else { return nil }
        let secret = fields.secret.map { Secret($0) }
        guard secret?.isCode != false else { return nil }
        return OAuthClient(id: id, secret: secret)
    }
}
