import Contract
import DBus
import ProviderKit
import ServiceSimulator
import TestSupport
import Testing
import WikimediaSimulator

/// Tests of the daemon and the command line with a simulated Wikimedia Commons.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(10))) @MainActor
struct DailyTests {
    @Test func `the first photo appears after few requests at a latency of 100 ms`() async throws {
        let fixture = try await DailyFixture()
        fixture.commons.fail("*", .drip(bytes: 1 << 24, pause: .milliseconds(100)))
        let login = try await Terminal.run("login", "daily")
        #expect(login.exit == .code(0), "\(login.error)")
        #expect(login.output == "daily_commons\n")
        let feed = try await Terminal.run("feed", "--count", "10")
        #expect(feed.exit == .code(0), "\(feed.error)")
        let photo = try #require(feed.output.split(separator: "\t").first.map(String.init))
        let image = try await Terminal.run("image", photo, "--size", "regular")
        #expect(image.exit == .code(0), "\(image.error)")
        #expect(photo == "daily_commons/\(fixture.commons.pictures[0])")
        // With 20 requests one after the other, the photo appears within three seconds: the latency takes two.
        let requests = fixture.commons.requests()
        #expect(requests.count <= 20, "\(requests.map(\.target))")
        #expect(fixture.requestCount >= 3)
        try await fixture.daemon.stop()
    }

    @Test func `a login needs no network, user or key, and there is one account`() async throws {
        let fixture = try await DailyFixture()
        fixture.commons.stop()
        #expect(try await Terminal.run("login", "daily").output == "daily_commons\n")
        #expect(try await Terminal.run("login", "daily").output == "daily_commons\n")
        #expect(try await fixture.accounts() == ["daily_commons"])
        #expect(try await Terminal.run("login", "daily", "--username", "ada").exit != .code(0))
        #expect(
            try await Terminal.run("login", "daily", "--server", "photos.example").exit != .code(0))
        let account = fixture.account(of: "ada")
        try await fixture.wait(account, "offline")
        try fixture.commons.resume()
        try await fixture.wait(account, "ready")
        #expect(
            try await fixture.ids(account, count: 7) == Array(fixture.commons.pictures.prefix(7)))
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["account": "daily_commons"]) == ([], []))
        try await fixture.daemon.stop()
    }

    @Test func `likes need no network, and remain until the account is removed`() async throws {
        let fixture = try await DailyFixture(pictureCount: 100)
        let account = try await fixture.logIn("ada")
        let ids = try await fixture.walk(account)
        fixture.commons.stop()
        let liked = Array(ids.prefix(60))
        for id in liked { #expect(try await account.like(id) == .local) }
        #expect(try await account.unlike(ids[3]) == .local)
        let expected = Array((liked[..<3] + liked[4...]).reversed())
        #expect(try await fixture.walk(account, "likes") == expected)
        #expect(try await account.properties(.like)["Count"] == .uint32(59))
        #expect(try await account.properties(.like)["Pending"] == .array([], of: String.signature))

        try await fixture.daemon.kill()
        try fixture.commons.resume()
        try await fixture.start()
        try await fixture.wait(account, "ready")
        #expect(try await fixture.walk(account, "likes") == expected)

        // The cache is deleted: the liked pictures are fetched with few requests.
        try await account.logout()
        try await fixture.logIn("ada")
        let count = fixture.requestCount
        #expect(try await fixture.walk(account, "likes") == expected)
        #expect(fixture.requestCount - count <= 4)
        #expect(try await account.properties(.like)["Count"] == .uint32(59))
        #expect(try await fixture.ids(account, count: 1) == [ids[0]])
        #expect(try await account.photo(ids[0])["liked"] == .bool(true))

        try await account.remove()
        try await fixture.logIn("ada")
        #expect(try await fixture.ids(account, "likes") == [])
        #expect(try await account.properties(.like)["Count"] == .uint32(0))
        try await fixture.daemon.stop()
    }

    @Test func `a photo shows its author, licence and page`() async throws {
        let fixture = try await DailyFixture()
        let account = try await fixture.logIn("ada")
        let id = try #require(try await fixture.ids(account).first)
        let photo = try await account.photo(id)
        #expect(photo["author"] == .string("Ada & Co, CC BY-SA 4.0"))
        #expect(photo["url"]?.string?.contains("/wiki/File:") == true)
        #expect(photo["media_type"] == .string("image/jpeg"))
        let shown = try await Terminal.run("photo", id)
        #expect(shown.output.contains("CC BY-SA 4.0"), "\(shown.output)")
        let profile = try await account.properties(.profile)
        #expect(profile["Name"] == .string("Wikimedia Commons"))
        try await fixture.daemon.stop()
    }

    @Test func `another picture of a day replaces the first one`() async throws {
        let fixture = try await DailyFixture()
        let account = try await fixture.logIn("ada")
        let ids = try await fixture.ids(account)
        fixture.commons.removeDay(of: ids[0])
        let replacement = fixture.commons.publish()
        #expect(replacement.prefix(10) == ids[0].prefix(10) && replacement != ids[0])
        #expect(try await account.refresh("") == 1)
        #expect(try await fixture.ids(account) == [replacement] + ids.dropFirst())
        try await fixture.daemon.stop()
    }
}
