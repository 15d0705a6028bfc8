import PluginHosting
import ProviderKit
import TestSupport
import Testing

/// Plugins whose servers may be in the network of the user.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct HomeServerTests {
    private static let server = "http://192.168.1.2:2342"

    private func plugin(
        _ authentication: String, _ script: String = "pass", opening: String = "",
        http: ScriptedHTTP = ScriptedHTTP()
    ) throws -> PluginFixture {
        try PluginFixture(
            script, opening: opening, authentication: authentication, hosts: "", http: http)
    }

    @Test(arguments: ["none", "key"])
    func `a named server may use http in a private network`(_ type: String) async throws {
        let plugin = try plugin("Type=\(type)\nServer=true\nHomeServers=true")
        let provider = try #require(plugin.provider as? any KeyLogin)
        for text in [Self.server, "\(Self.server)/library/login", "HTTP://192.168.1.2:2342/"] {
            let access = try provider.access(noSettings, server: text)
            #expect(access.namedOrigins == [Self.server])
            #expect(access.keyOrigins == (type == "key" ? [Self.server] : []))
            let identity = try await provider.identify(
                AccountIdentity(username: "", server: text), .test())
            #expect(identity.server == Self.server)
        }
        #expect(
            try provider.access(noSettings, server: "photos.test").namedOrigins
                == ["https://photos.test"])
        let error = #expect(throws: ProviderError.self) {
            try provider.access(noSettings, server: "ftp://192.168.1.2")
        }
        guard case .invalidArgument(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains("or http://192.168.1.2:2342"))
    }

    @Test func `without HomeServers, a server is requested over https`() throws {
        let plugin = try plugin("Type=key\nServer=true")
        let provider = try #require(plugin.provider as? any KeyLogin)
        #expect(throws: ProviderError.self) { try provider.access(noSettings, server: Self.server) }
        #expect(try provider.access(noSettings, server: "photos.test").namedOrigins.isEmpty)
    }

    @Test func `requests go only to the server of the account`() async throws {
        let http = ScriptedHTTP { _ in .json("{}") }
        let plugin = try plugin(
            "Type=none\nServer=true\nHomeServers=true",
            """
            def kind(url):
                reply = ask("http", {"account": account, "url": url})
                return reply["error"]["data"]["kind"] if "error" in reply else reply["result"]["status"]
            show([kind("\(Self.server)/api"), kind("http://192.168.1.2/"), kind("http://192.168.1.3:2342/"),
                  kind("https://192.168.1.2:2342/"), kind("https://example.org/"), kind("http://127.0.0.1/")])
            """, http: http)
        let session = plugin.provider.makeSession(
            AccountIdentity(username: "ada", server: Self.server), .test(http))
        let feed = try #require(session.remoteFeed)
        let page = try await feed.fetchPage(SourceID("home"), from: nil)
        let refused = Array(repeating: "'forbidden-address'", count: 5).joined(separator: ", ")
        #expect(page.photos.first?.photo.title == "[200, \(refused)]")
        let request = try #require(http.requests.value.first)
        #expect(http.requests.value.count == 1)
        #expect(request.addressSource == .configuration)
        #expect(request.allowedHosts?.isNamed(request.url) == true)
    }

    @Test func `a login that is confirmed in the browser may use http`() async throws {
        let answer = """
            {"name": "\(Self.server)/cloud", "start_url": "\(Self.server)/cloud/login", "revocation":
             {"method": "DELETE", "url": "\(Self.server)/cloud/password"}}
            """
        let plugin = try plugin(
            "Type=polling\nHomeServers=true",
            opening: PluginFixture.function("describeLogin", returning: answer))
        let provider = try #require(plugin.provider as? any PollingLogin)
        let server = try provider.server("\(Self.server)/cloud/", noSettings)
        #expect(server == "\(Self.server)/cloud")
        let access = try provider.access(noSettings, server: server)
        #expect(access.namedOrigins == [Self.server] && access.keyOrigins == [Self.server])
        let found = try await provider.describeLogin(server, .test())
        #expect(found.server == server && found.startURL == "\(server)/login")
    }
}
