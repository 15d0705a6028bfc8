import Contract
import ProviderKit
import Storage
import TestSupport
import Testing
import WikimediaSimulator

/// Tests of the daemon and the command line with a simulated Wikimedia Commons.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct DailyTests {
    @Test func `the first photo appears after few requests at a latency of 100 ms`() async throws {
        let fixture = try await DailyFixture()
        fixture.commons.fail("*", .drip(bytes: 1 << 24, pause: .milliseconds(100)))
        let login = try await Terminal.output("login", "daily")
        #expect(login == "daily_commons\n")
        let feed = try await Terminal.output("feed", "--count", "10")
        let photo = try #require(feed.split(separator: "\t").first.map(String.init))
        _ = try await Terminal.output("image", photo, "--size", "regular")
        #expect(photo == "daily_commons/\(fixture.commons.pictures[0])")
        // With 20 requests one after the other, the photo appears within three seconds: the latency takes two.
        let requests = fixture.commons.requests()
        #expect(requests.count <= 20, "\(requests.map(\.target))")
        #expect(fixture.requestCount >= 3)
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
            try await account.ids(count: 7) == Array(fixture.commons.pictures.prefix(7)))
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["account": "daily_commons"]) == ([], []))
    }

    @Test func `likes remain if the account is lost from the data file`() async throws {
        let (fixture, account, ids) = try await readFeed(of: DailyFixture())
        #expect(try await account.like(ids[0]) == .local)
        // The cache, which also has the like, is deleted.
        try await account.logout()
        try await fixture.daemon.stop()
        try Disk.database().execute("PRAGMA foreign_keys = OFF; DELETE FROM account")
        try await fixture.start()
        #expect(try await fixture.accounts() == [])
        try await fixture.logIn("ada")
        #expect(try await account.ids("likes") == [ids[0]])
    }

    @Test func `another picture of a day replaces the first one`() async throws {
        let (fixture, account, ids) = try await readFeed(of: DailyFixture())
        fixture.commons.removeDay(of: ids[0])
        let replacement = fixture.commons.publish()
        #expect(replacement.prefix(10) == ids[0].prefix(10) && replacement != ids[0])
        #expect(try await account.refresh("") == 1)
        #expect(try await account.ids() == [replacement] + ids.dropFirst())
    }
}
