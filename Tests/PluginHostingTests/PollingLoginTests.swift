import PluginHosting
import ProviderKit
import TestSupport
import Testing

/// Plugins of services whose logins are confirmed in the browser.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct PollingLoginTests {
    /// A result of `describeLogin`, as a Python expression.
    private static let answer = """
        {"name": "photos.test/cloud", "start_url": "https://photos.test/cloud/login",
         "revocation": {"method": "DELETE", "url": "https://photos.test/cloud/password",
                        "headers": [["OCS-APIRequest", "true"]]}}
        """

    private func plugin(_ answer: String) throws -> (PluginFixture, any PollingLogin) {
        let plugin = try PluginFixture(
            opening: PluginFixture.function("describeLogin", returning: answer),
            authentication: "Type=polling")
        return (plugin, try #require(plugin.provider as? any PollingLogin))
    }

    @Test func `a plugin describes a login, and only its server gets the password`() async throws {
        let (plugin, provider) = try plugin(Self.answer)
        #expect(provider.info.authentication == .oauth2)
        #expect(provider.info.capabilities.contains(.server))
        #expect(
            try provider.server("https://Photos.test/cloud/", noSettings)
                == "photos.test/cloud")
        let access = try provider.access(noSettings, server: "photos.test/cloud")
        #expect(access.keyField == "Authorization: Basic ")
        #expect(access.keyOrigins == ["https://photos.test"])
        let found = try await provider.describeLogin("photos.test/cloud/apps", .test())
        #expect(found.server == "photos.test/cloud")
        #expect(found.startURL == "https://photos.test/cloud/login")
        #expect(found.revocation?.method == .delete)
        #expect(found.revocation?.url == "https://photos.test/cloud/password")
        #expect(found.revocation?.headers["OCS-APIRequest"] == "true")
        withExtendedLifetime(plugin) {}
    }

    @Test(arguments: [
        ("\"photos.test/cloud\"", "\"evil.test\"", "the only origin"),
        ("https://photos.test/cloud/login", "https://evil.test/login", "the only origin"),
        ("https://photos.test/cloud/login", "https://photos.test:8443/login", "the only origin"),
        ("https://photos.test/cloud/login", "http://photos.test/cloud/login", "the only origin"),
        ("https://photos.test/cloud/password", "https://evil.test/password", "the only origin"),
        ("OCS-APIRequest", "Host", "a reserved field"),
        ("\"DELETE\"", "\"TRACE\"", "method is not"),
    ])
    func `a description with another server or an invalid request is refused`(
        _ part: String, _ other: String, _ reason: String
    ) async throws {
        let text = Self.answer.replacing(part, with: other)
        try #require(text != Self.answer)
        let (plugin, provider) = try plugin(text)
        await #expect(throws: ProviderError.self) {
            _ = try await provider.describeLogin("photos.test/cloud", .test())
        }
        try await plugin.logged(reason)
    }

    @Test(arguments: ["http://photos.test", "ftp://photos.test", "photos.test/../a", ""])
    func `an invalid server is refused`(text: String) throws {
        let (_, provider) = try plugin(Self.answer)
        #expect(throws: ProviderError.self) { try provider.server(text, noSettings) }
    }
}
