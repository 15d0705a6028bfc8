import HTTP
import MastodonSimulator
import ProviderKit
import TestSupport
import Testing

@testable import MastodonProvider

/// Walks at simulated servers, whose pages differ between programs.
@MainActor
struct ServerTests {
    private func session(_ server: SimulatedMastodon) -> MastodonSession {
        server.addUser("ada")
        return MastodonSession(
            AccountIdentity(username: "ada", server: server.name),
            SessionPorts(
                AuthorizedHTTP(
                    CurlClient(userAgent: "Test") {}, token: Secret(server.makeToken(for: "ada")),
                    field: HTTPRequest.bearerField),
                ProviderSettings(["LoopbackServers": "\(server.name)=\(server.url)"])))
    }

    private func start(_ software: Software, count: Int) throws -> SimulatedMastodon {
        let server = try SimulatedMastodon.start("photos.test", software, statusCount: 0)
        for _ in 0..<count { server.publish() }
        return server
    }

    private func expected(
        _ server: SimulatedMastodon, _ software: Software = .mastodon
    ) -> [String] { server.statuses.flatMap { $0.photos(software) } }

    @Test(arguments: Software.all, [1, 41, 61])
    func `every server shows its home timeline once`(software: Software, count: Int) async throws {
        let server = try start(software, count: count)
        let photos = try await session(server).walk("home")
        #expect(photos.map(\.photo.id.text) == expected(server, software))
        // The keys descend, so that the engine can compare pages.
        let keys = photos.compactMap(\.entry)
        #expect(keys == keys.sorted(by: >) && Set(keys).count == count)
    }

    @Test func `Pixelfed with a cached home timeline ends it with status 206`() async throws {
        let server = try start(.pixelfed, count: 45)
        server.settings.hasCachedHome = true
        let session = session(server)
        #expect(try await session.walk("home").count == 45)
        server.settings.unfollowed = ["lin", "zoe"]
        await expectThrown(ProviderError.failed) { try await session.page("home") }
        #expect(try await session.page("home") == RemotePage([]))
    }

    @Test(arguments: ["local", "public", "tag:photography"])
    func `Takahe shows the photos of public lists`(source: String) async throws {
        let server = try start(.takahe, count: 3)
        server.publish { $0.attachments = [] }
        #expect(try await session(server).walk(source).map(\.photo.id.text) == expected(server))
    }

    @Test func `a server that sends fewer statuses than requested is read to its end`() async throws
    {
        let server = try start(.mastodon, count: 45)
        server.settings.pageLimit = 20
        server.settings.omitsLinks = true
        #expect(try await session(server).walk("home").count == 45)
    }
}
