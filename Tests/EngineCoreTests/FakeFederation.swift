import ProviderKit
import TestSupport

@testable import EngineCore

/// A provider with servers in memory, at which clients are registered. Its network is ``answer(_:)``.
final class FakeFederation: FederatedLogin {
    struct State: Sendable {
        /// The client IDs that are registered at each server.
        var clients: [String: Set<String>] = [:]
        /// The number of registrations.
        var registrations = 0
        /// True if a server issues the same token at every login.
        var reusesTokens = false
        var tokens = 0
        /// The access tokens that are valid, with the client IDs that they were issued to.
        var live: [String: String] = [:]
        /// The number of seconds after which access tokens expire. Then there are refresh tokens.
        var lifetime: Int?
        /// The tokens that were revoked, in order.
        var revoked: [String] = []
        /// True while revocations fail because the servers cannot be reached.
        var refusesRevocations = false
        /// The name of the user of the next login.
        var username = "ada"
        /// The stable ID of that user.
        var userID: String?
        /// The scopes of all servers.
        var scopes = ["read"]
        var discoveryError: (any Error & Sendable)?
        var showsCode = true
        /// True while discoveries are held.
        var isHeld = false
        /// The number of discoveries that ended.
        var discoveries = 0
    }

    let state = Observed(State())
    let info = ProviderInfo(
        id: "federation", name: "Federation", iconName: "image", authentication: .oauth2,
        capabilities: [.feed], defaultSource: SourceID("new"))

    func server(_ text: String, _ settings: ProviderSettings) throws(ProviderError) -> String {
        guard text.contains(".") else { throw .invalidArgument("\(text) is no server.") }
        return text.lowercased()
    }

    func oauth(
        _ server: String, _ settings: ProviderSettings
    ) throws(ProviderError) -> OAuthDescription {
        var oauth = OAuthDescription(
            authorizationURL: "https://\(server)/authorize", tokenURL: "https://\(server)/token",
            scopes: state.value.scopes, tokenOrigins: ["https://\(server)"])
        oauth.revocationURL = "https://\(server)/revoke"
        oauth.usesPKCE = true
        oauth.countsPerApplication = false
        oauth.showsCode = state.value.showsCode
        oauth.registration = ClientRegistration(
            url: "https://\(server)/apps", fields: ["client_name": "Image Feed"],
            redirectField: "redirect_uris")
        return oauth
    }

    func discover(
        _ server: String, user: String?, _ ports: SessionPorts
    ) async throws -> DiscoveredServer {
        // Ignores cancellation, as a slow server does.
        await Task { [state] in _ = try? await state.wait { $0.isHeld ? nil : true } }.value
        state.update { $0.discoveries += 1 }
        if let error = state.value.discoveryError { throw error }
        return DiscoveredServer(name: server, oauth: try oauth(server, ports.settings))
    }

    func identify(_ server: String, _ ports: SessionPorts) async throws -> AccountIdentity {
        AccountIdentity(username: state.value.username, server: server, userID: state.value.userID)
    }

    func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        FakeServiceSession(Observed(FakeService.State()))
    }

    // MARK: Logins

    /// Makes an engine whose only provider is this one, and whose network is ``answer(_:)``.
    @MainActor
    func fixture(_ directory: TemporaryDirectory? = nil) throws -> EngineFixture {
        let fixture = try EngineFixture(directory, providers: [self])
        fixture.ports.http.answer.update { $0 = { try self.answer($0) } }
        return fixture
    }

    /// Starts a manual login of a user.
    @MainActor
    func start(
        _ fixture: EngineFixture, _ username: String = "ada", _ userID: String? = nil,
        at server: String? = "one.example", for account: Account? = nil
    ) throws -> Login {
        state.update { ($0.username, $0.userID) = (username, userID) }
        var options = LoginOptions()
        options.server = server
        options.account = account
        options.isManual = true
        return try fixture.engine.logins.start("federation", options)
    }

    /// Logs a user in with a pasted code.
    @MainActor @discardableResult
    func logIn(
        _ fixture: EngineFixture, _ username: String = "ada", _ userID: String? = nil,
        at server: String? = "one.example", for account: Account? = nil
    ) async throws -> Account {
        let login = try start(fixture, username, userID, at: server, for: account)
        await login.prepared()
        try login.submit("code")
        return try await login.wait()
    }

    // MARK: Servers

    /// Returns the response of a server.
    func answer(_ request: HTTPRequest) throws -> HTTPResponse {
        let parts = request.url.split(separator: "/")
        let (server, path) = (String(parts[1]), String(parts[2]))
        let fields = URLEncoding.fields(Substring(String(decoding: request.body, as: UTF8.self)))
        func field(_ name: String) -> String { fields?.first { $0.name == name }?.value ?? "" }
        var answer = (status: 404, body: "{}")
        var isUnreachable = false
        state.update { state in
            let isKnown = state.clients[server]?.contains(field("client_id")) == true
            switch path {
            case "apps":
                state.registrations += 1
                let id = "client-\(state.registrations)"
                state.clients[server, default: []].insert(id)
                answer = (200, #"{"client_id":"\#(id)","client_secret":"secret-of-\#(id)"}"#)
            case _ where !isKnown: answer = (401, #"{"error":"invalid_client"}"#)
            case "token" where field("code") == "none":
                answer = (400, #"{"error":"invalid_grant"}"#)
            case "token":
                let client = field("client_id")
                if field("grant_type") == "refresh_token" {
                    let access = field("refresh_token").replacing("refresh", with: "token")
                    guard state.live[access] == client else {
                        answer = (400, #"{"error":"invalid_grant"}"#)
                        break
                    }
                    state.live[access] = nil
                }
                if !state.reusesTokens { state.tokens += 1 }
                state.live["token-\(state.tokens)"] = client
                let renewal = state.lifetime.map {
                    #","expires_in":\#($0),"refresh_token":"refresh-\#(state.tokens)""#
                }
                answer = (200, #"{"access_token":"token-\#(state.tokens)"\#(renewal ?? "")}"#)
            case "revoke":
                isUnreachable = state.refusesRevocations
                guard !isUnreachable else { break }
                let access = field("token").replacing("refresh", with: "token")
                guard state.live[access] == nil || state.live[access] == field("client_id") else {
                    answer = (403, #"{"error":"unauthorized_client"}"#)
                    break
                }
                state.live[access] = nil
                state.revoked.append(field("token"))
                answer = (200, "{}")
            default: break
            }
        }
        if isUnreachable { throw HTTPError.unreachable("no such host") }
        return HTTPResponse(status: answer.status, body: Array(answer.body.utf8), url: request.url)
    }
}
