import EngineModel
import OAuth
import ProviderKit
import TestSupport
import Testing

@testable import Services

/// The token of an account: one renewal at a time, and no lost token.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct CredentialsTests {
    private let http = ScriptedHTTP()
    private let secrets = InMemorySecretStore()
    private let now = Timestamp(secondsSince1970: 1_800_000_000)
    private let id = AccountID(stored: "service_ada")

    private func credentials() async throws -> Credentials {
        try await secrets.store(token("old").encoded, for: .account(id.text), label: "")
        return again()
    }

    /// The access tokens that were passed to the revocation.
    private let revoked = Observed<[String]>()

    private var endpoint: TokenEndpoint {
        var description = OAuthDescription(
            authorizationURL: "https://service.test/authorize",
            tokenURL: "https://service.test/token", scopes: [],
            tokenOrigins: ["https://api.service.test"])
        description.revocationURL = "https://service.test/revoke"
        let client = RegisteredClient(
            description: description, id: "id", secret: Secret("secret"))
        return TokenEndpoint(client, http)
    }

    private func again() -> Credentials {
        let (endpoint, revoked) = (self.endpoint, self.revoked)
        return Credentials(
            id, label: "", secrets, now: { [now] in now },
            revoke: { token, _ in revoked.append(token.accessToken.withText { $0 }) }
        ) { _ in endpoint }
    }

    private func token(_ name: String) -> OAuthToken {
        OAuthToken(
            accessToken: Secret(name), refreshToken: Secret("\(name)-refresh"), scopes: [],
            obtained: now + .seconds(-7200), expires: now + .seconds(60),
            client: endpoint.registered)
    }

    private func answer(_ status: Int, _ body: String) {
        http.respond(Array(body.utf8), status: status)
    }

    private let renewal = #"{"access_token":"new","refresh_token":"new-refresh","expires_in":7200}"#

    private func stored() -> OAuthToken? {
        secrets.state.value.secrets[.account(id.text)].flatMap { OAuthToken(encoded: Secret($0)) }
    }

    @Test func `concurrent calls renew a token once`() async throws {
        let credentials = try await credentials()
        answer(200, renewal)
        let calls = (0..<10).map { _ in Task { try await credentials.validToken() } }
        for call in calls { #expect(try await call.value.accessToken.matches(Secret("new"))) }
        #expect(http.requests.value.count == 1)
        #expect(stored()?.accessToken.matches(Secret("new")) == true)
    }

    @Test(arguments: [
        (500, "{}"), (429, "slow down"), (400, "<html>"), (401, #"{"error":"invalid_client"}"#),
    ])
    func `a failed renewal keeps the token`(status: Int, body: String) async throws {
        let credentials = try await credentials()
        answer(status, body)
        // The old token is used. If the service refuses it, no login is needed.
        #expect(try await credentials.validToken().accessToken.matches(Secret("old")))
        await #expect { try await credentials.renew(insteadOf: Secret("old")) } throws: {
            switch $0 {
            case ProviderError.failed, ProviderError.rateLimited, ProviderError.notConfigured: true
            default: false
            }
        }
        #expect(credentials.problem == nil)
        answer(200, renewal)
        #expect(try await credentials.validToken().accessToken.matches(Secret("new")))
    }

    @Test(arguments: [
        (401, #"{"error":"invalid_request","message":"The refresh token is invalid."}"#),
        (400, #"{"error":"Invalid credentials"}"#), (400, #"{"error":"invalid_grant"}"#),
        (401, #"{"message":"Unauthenticated."}"#), (403, #"{"error":"access_denied"}"#),
    ])
    func `a refused refresh token always requires a login`(status: Int, body: String) async throws {
        let credentials = try await credentials()
        answer(status, body)
        await #expect(throws: ProviderError.unauthorized) {
            try await credentials.renew(insteadOf: Secret("old"))
        }
        #expect(credentials.isRefused)
        // It is not sent again.
        let count = http.requests.value.count
        await #expect(throws: ProviderError.unauthorized) { try await credentials.validToken() }
        #expect(http.requests.value.count == count)
    }

    @Test func `a token that could not be stored is stored later`() async throws {
        let credentials = try await credentials()
        try await credentials.load()
        answer(200, renewal)
        secrets.state.update { $0.isLocked = true }
        #expect(try await credentials.validToken().accessToken.matches(Secret("new")))
        secrets.state.update { $0.isLocked = false }
        #expect(stored()?.accessToken.matches(Secret("old")) == true)
        #expect(try await credentials.validToken().accessToken.matches(Secret("new")))
        #expect(try await again().load().accessToken.matches(Secret("new")))
    }

    @Test func `a refusal of a token that a login has replaced is ignored`() async throws {
        let credentials = try await credentials()
        try await credentials.load()
        answer(400, #"{"error":"invalid_grant"}"#)
        let login = token("login")
        http.requests.update { _ in }
        let renewal = Task { try await credentials.renew(insteadOf: Secret("old")) }
        let adoption = Task { credentials.adopt(login) }
        await adoption.value
        #expect(try await renewal.value.accessToken.matches(Secret("login")))
        credentials.refused(Secret("old"))
        #expect(credentials.problem == nil)
    }

    @Test func `a token whose renewal ends after a login is revoked`() async throws {
        let credentials = try await credentials()
        try await credentials.load()
        answer(200, renewal)
        http.heldAddresses.update { $0 = ["/token"] }
        let renewal = Task { try await credentials.renew(insteadOf: Secret("old")) }
        try await http.requests.wait { $0.isEmpty ? nil : true }
        credentials.adopt(token("login"))
        http.heldAddresses.update { $0 = [] }
        #expect(try await renewal.value.accessToken.matches(Secret("login")))
        #expect(revoked.value == ["new"])
    }

    @Test func `a token that is renewed during a logout is not stored`() async throws {
        let credentials = try await credentials()
        try await credentials.load()
        answer(200, renewal)
        let renewal = Task { _ = try await credentials.renew(insteadOf: Secret("old")) }
        let discard = Task { try await credentials.discard {} }
        _ = await renewal.result
        try await discard.value
        #expect(stored() == nil)
    }
}
