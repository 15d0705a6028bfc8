import OAuth
import ProviderKit
import TestSupport
import Testing

/// Tests of the client registration.
struct RegistrationTests {
    private let description = OAuthDescription.sample {
        $0.redirectPort = 43117
        $0.registration = ClientRegistration(
            url: "https://photos.example/apps", fields: ["scopes": "a b", "client_name": "X & Y"],
            redirectField: "redirect_uris")
    }

    private func register(
        _ http: ScriptedHTTP, _ description: OAuthDescription? = nil
    ) async throws -> RegisteredClient {
        try await RegisteredClient.register(
            description ?? self.description, http, now: Timestamp(secondsSince1970: 0))
    }

    @Test func `the registration form contains the name and the redirect addresses`() async throws {
        let http = ScriptedHTTP(200, #"{"client_id":"id","client_secret":"secret"}"#)
        let registered = try await register(http)
        #expect(registered.id == "id")
        #expect(registered.secret?.text == "secret")
        let request = try #require(http.requests.value.first)
        #expect(request.url == "https://photos.example/apps")
        #expect(
            request.text
                == "client_name=X%20%26%20Y&scopes=a%20b&redirect_uris=http%3A%2F%2F127.0.0.1%3A43117%2Fcallback%0Aurn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob"
        )
        var single = description
        single.showsCode = false
        let other = ScriptedHTTP(200, #"{"client_id":7,"client_secret":"secret"}"#)
        #expect(try await register(other, single).id == "7")
        #expect(other.requests.value.first?.text.hasSuffix("%2Fcallback") == true)
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"client_secret":"x"}"#, #"{"client_id":"","client_secret":"x"}"#,
        #"{"client_id":"a b","client_secret":"x"}"#, #"{"client_id":"a","client_secret":"x\n"}"#,
        "<html>",
    ])
    func `an invalid response fails the registration`(body: String) async throws {
        await #expect(throws: OAuthError.self) { _ = try await register(ScriptedHTTP(200, body)) }
    }

    @Test func `the service's error is reported`() async throws {
        let refused = ScriptedHTTP(422, #"{"error":"Validation failed"}"#)
        await #expect(throws: OAuthError.refused("Validation failed")) {
            _ = try await register(refused)
        }
        await #expect(
            throws: OAuthError.serviceFailed("The registration response has status 500.")
        ) {
            _ = try await register(ScriptedHTTP(500, ""))
        }
        let limited = ScriptedHTTP(429, "", ["Retry-After": "60"])
        await #expect(throws: OAuthError.rateLimited(until: Timestamp(secondsSince1970: 60))) {
            _ = try await register(limited)
        }
    }

    @Test func `a stored registration is read unchanged`() throws {
        let client = RegisteredClient(description: description, id: "id", secret: Secret("secret"))
        let read = try #require(RegisteredClient(encoded: client.encoded))
        #expect(read.description == description)
        #expect(read.id == "id")
        #expect(read.secret?.text == "secret")
        for text in ["", "{}", "[]", #"{"version":2,"id":"x","description":{}}"#] {
            #expect(RegisteredClient(encoded: Secret(text)) == nil)
        }
    }

    @Test func `more token refusals do not cause a new registration`() {
        var newer = description
        newer.tokenRefusals.append(TokenRefusal(status: 403, path: "/me"))
        #expect(description.isRegistered(like: newer))
        newer.showsCode = false
        #expect(!description.isRegistered(like: newer))
    }
}
