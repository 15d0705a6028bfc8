import EngineModel
import ProviderKit
import SlideshowCore
import TestSupport
import Testing

@testable import EngineCore

/// The combined feed of several accounts.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct CombinedFeedTests {
    private let albums = FakeAlbums()

    private func makeFixture(_ names: String...) async throws -> EngineFixture {
        let fixture = try EngineFixture(providers: [albums])
        for name in names {
            albums.update(name) { _ in }
            try await fixture.logIn(name)
        }
        return fixture
    }

    /// Returns the IDs of a page without the provider, and the cursor of the next page.
    private func page(
        _ fixture: EngineFixture, _ cursor: String = "", count: Int = 3, source: String = ""
    ) async throws -> (ids: [String], next: String) {
        let page = try await fixture.engine.combined.page(source, cursor: cursor, count: count)
        let ids = page.photos.map { "\($0.account.id)/\($0.photo.id)".dropFirst("fake_".count) }
        return (ids.map(String.init), page.next)
    }

    private func walk(
        _ fixture: EngineFixture, _ cursor: String = "", count: Int = 3
    ) async throws -> [String] {
        var ids: [String] = []
        var cursor = cursor
        repeat {
            let (page, next) = try await page(fixture, cursor, count: count)
            ids += page
            cursor = next
        } while !cursor.isEmpty
        return ids
    }

    // MARK: Order

    @Test func `the newest of the next photos is next, in each account's order`() async throws {
        let fixture = try await makeFixture("ada", "bob")
        albums.setPhotos("ada", ["a1": 50, "a2": 10, "a3": 60])
        albums.setPhotos("bob", ["b1": 40, "b2": 30, "b3": 5])
        #expect(
            try await walk(fixture) == ["ada/a1", "bob/b1", "bob/b2", "ada/a2", "ada/a3", "bob/b3"])
    }

    // MARK: Cursors

    @Test func `a walk survives a restart, arrivals and other logins`() async throws {
        let fixture = try await makeFixture("ada", "bob", "cy")
        albums.setPhotos("ada", ["a1": 50, "a2": 40, "a3": 10])
        albums.setPhotos("bob", ["b1": 45, "b2": 35, "b3": 5])
        albums.setPhotos("cy", ["c1": 42, "c2": 1])
        let (first, cursor) = try await page(fixture)
        #expect(first == ["ada/a1", "bob/b1", "cy/c1"])
        albums.update("ada") { $0.photos.insert(.init(id: "a0", created: 90), at: 0) }
        albums.setPhotos("new", ["n1": 80])
        try await fixture.logIn("new")
        let cy = try #require(fixture.engine.accounts[AccountID(stored: "fake_cy")])
        try await fixture.engine.accounts.logOut(cy)
        fixture.engine.stop()
        let next = try EngineFixture(fixture.directory, providers: [albums])
        next.engine.start()
        #expect(try await walk(next, cursor) == ["ada/a2", "bob/b2", "ada/a3", "bob/b3"])
        try await next.logIn("cy")
        // Also an account that has logged in again is out of the walk.
        #expect(try await walk(next, cursor) == ["ada/a2", "bob/b2", "ada/a3", "bob/b3"])
        #expect(try await page(next).ids == ["ada/a0", "new/n1", "ada/a1"])
    }

    @Test func `cursors that are malformed or of another source are refused`() async throws {
        let fixture = try await makeFixture("ada")
        albums.setPhotos("ada", ["a1": 3, "a2": 2])
        let cursor = try await page(fixture, count: 1).next
        let tag = cursor.dropFirst(18)
        for text in [
            "x", "c1", "c2\(cursor.dropFirst(2))", "\(cursor)1", "\u{301}\(cursor)", "c1\(tag)",
        ] {
            await #expect(throws: ProviderError.self) { _ = try await page(fixture, text) }
        }
        await #expect(throws: ProviderError.self) {
            _ = try await page(fixture, cursor, source: "likes")
        }
        let account = try await fixture.engine.accounts.all[0].page("", cursor: "", count: 1).next
        await #expect(throws: ProviderError.self) { _ = try await page(fixture, account) }
    }

    @Test func `another default source of an account ends a walk`() async throws {
        let fixture = try await makeFixture("ada", "bob")
        albums.setPhotos("ada", ["a1": 3, "a2": 2])
        let cursor = try await page(fixture, count: 1).next
        try await fixture.engine.accounts.all[0].setDefaultSource(SourceID("album"))
        await #expect(throws: ProviderError.staleCursor) { _ = try await page(fixture, cursor) }
    }

    @Test func `the cursor of 50 accounts is short`() async throws {
        let fixture = try await makeFixture()
        for number in 0..<50 {
            let name = String(repeating: "n", count: 100) + "\(number)"
            albums.update(name) { user in
                user.photos = (0..<9).map {
                    .init(id: "p\($0)", created: Int64(1_800_000_000 - $0))
                }
            }
            try await fixture.logIn(name)
        }
        let (ids, next) = try await page(fixture, count: 100)
        #expect(ids.count == 100)
        #expect(next.utf8.count < 2_500)
        let rest = try await walk(fixture, next, count: 100)
        #expect(rest.count == 350)
        #expect(Set(ids + rest).count == 450)
    }

    // MARK: Cost

    @Test(arguments: ["mixed", "one account", "equal times"])
    func `a first page of five large accounts reads few photos`(_ order: String) async throws {
        let fixture = try await makeFixture("a", "b", "c", "d", "e")
        var random = SeededRandom(seed: Simulation.seed)
        for name in ["a", "b", "c", "d", "e"] {
            albums.update(name) { user in
                user.photos = (0..<20_000).map { index in
                    let created: Int64 =
                        switch order {
                        case "mixed": .random(in: 0...1_000_000, using: &random)
                        case "one account": (name == "c" ? 1_000_000 : 0) - Int64(index)
                        default: -Int64(index)
                        }
                    return .init(id: "p\(index)", created: created)
                }
                if order == "mixed" { user.photos.sort { $0.created ?? 0 > $1.created ?? 0 } }
            }
        }
        for count in [30, 50, 100] {
            for name in ["a", "b", "c", "d", "e"] {
                albums.update(name) { ($0.readCount, $0.reads) = (0, 0) }
            }
            #expect(try await page(fixture, count: count).ids.count == count)
            let users = albums.users.value.values
            let photos = users.reduce(0) { $0 + $1.readCount }
            #expect(2 * photos <= 3 * count, "\(photos) photos read for \(count)")
            #expect(users.reduce(0) { $0 + $1.reads } <= 30)
        }
    }

    // MARK: Accounts that cannot be read

    @Test func `an account that does not respond joins the walk later`() async throws {
        let fixture = try await makeFixture("ada", "bob", "cy")
        albums.setPhotos("ada", ["a1": 50, "a2": 40, "a3": 30])
        albums.setPhotos("bob", ["b1": 45, "b2": 35])
        albums.update("bob") { $0.isHeld = true }
        albums.setPhotos("cy", ["c1": 20])
        albums.update("cy") { $0.error = .failed("It is broken.") }
        let combined = fixture.engine.combined
        async let waiting = page(fixture, count: 1)
        try await fixture.clock.waitForSleeps(
            until: fixture.clock.now.offset + .milliseconds(1_800), begun: 3, pending: 1)
        fixture.clock.advance(by: .seconds(2))
        let (first, cursor) = try await waiting
        #expect(first == ["ada/a1"])
        #expect(combined.incomplete.map(\.id.text) == ["fake_bob", "fake_cy"])
        albums.update("bob") { $0.isHeld = false }
        albums.update("cy") { $0.error = nil }
        #expect(
            try await walk(fixture, cursor) == ["bob/b1", "ada/a2", "bob/b2", "ada/a3", "cy/c1"])
        // Only a first page changes it.
        #expect(combined.incomplete.map(\.id.text) == ["fake_bob", "fake_cy"])
        #expect(try await page(fixture, count: 1).ids == ["ada/a1"])
        #expect(combined.incomplete.isEmpty)
    }

    @Test func `a walk stops at an account that fails, and goes on later`() async throws {
        let fixture = try await makeFixture("ada", "bob")
        albums.setPhotos("ada", ["a1": 50, "a2": 40])
        albums.setPhotos("bob", ["b1": 45, "b2": 35])
        let (_, second) = try await page(fixture, count: 2)
        albums.update("ada") { $0.error = .failed("It is broken.") }
        let (ids, third) = try await page(fixture, second, count: 2)
        #expect(ids == ["bob/b2"])
        await #expect(throws: ProviderError.failed("It is broken.")) {
            _ = try await page(fixture, third)
        }
        albums.update("ada") { $0.error = nil }
        #expect(try await page(fixture, third) == (ids: ["ada/a2"], next: ""))
    }

    // MARK: Photos and sources

    @Test func `a photo ID is split at its first slash`() async throws {
        let fixture = try await makeFixture("ada", "b/ö")
        let hostile = ["x/y/z", "/", "a//b", "fake_ada/p", "ünï", "%2F", "/\u{301}"]
        for id in hostile {
            albums.update("ada") { $0.photos = [.init(id: id, created: 1)] }
            try await fixture.engine.combined.call("fake_ada/\(id)") { account, photo in
                let found = try await account.photo(photo)
                let path = try await account.imagePath(photo, size: "full")
                #expect(found.combined(of: account.id).id.text == "fake_ada/\(id)")
                #expect(account.id.text == "fake_ada")
                #expect(path == "/ada/\(id)/full")
            }
        }
        for id in [
            "", "/", "fake_ada", "fake_ada/", "/fake_ada/x", "fake_bob/x", "fake_ad/a",
            "fake_ada /x", "..//x",
        ] {
            await #expect(throws: EngineError.self) {
                _ = try await fixture.engine.combined.call(id) { try await $0.photo($1) }
            }
        }
        albums.setPhotos("b/ö", ["p": 1])
        let username = try await fixture.engine.combined.call("fake_b_2f_c3_b6/p") {
            account, photo in
            _ = try await account.photo(photo)
            return account.identity.username
        }
        #expect(username == "b/ö")
        let ada = try #require(fixture.engine.accounts[AccountID(stored: "fake_ada")])
        albums.setPhotos("ada", ["p": 1])
        try await fixture.engine.accounts.logOut(ada)
        await #expect(throws: EngineError.self) {
            _ = try await fixture.engine.combined.call("fake_ada/p") { try await $0.photo($1) }
        }
    }

    @Test(arguments: ["x", "x/y", "fake_ada", "é 1"])
    func `an error names a missing photo by its combined ID`(photo: String) async throws {
        let fixture = try await makeFixture("ada")
        let (combined, slideshow) = (fixture.engine.combined, fixture.engine.slideshows.all[0])
        let id = "fake_ada/\(photo)"
        let missing = ProviderError.notFound("There is no photo \"\(id)\".")
        await #expect(throws: missing) { try await combined.call(id) { try await $0.photo($1) } }
        for isWanted in [true, nil] {
            await #expect(throws: missing) {
                try await combined.call(id) { try await $0.changeLike(of: $1, to: isWanted) }
            }
        }
        await #expect(throws: missing) { try await slideshow.show(id) }
        await #expect(throws: missing) { try await slideshow.hide(id) }
    }

    @Test func `a refresh adds the new photos, and fails only if all accounts fail`() async throws {
        let fixture = try await makeFixture("ada", "bob")
        albums.update("ada") { $0.new = 2 }
        albums.update("bob") { $0.new = 3 }
        let combined = fixture.engine.combined
        #expect(try await combined.refreshFeed("") == 5)
        albums.update("ada") { $0.error = .failed("It is broken.") }
        #expect(try await combined.refreshFeed("all") == 3)
        albums.update("bob") { $0.error = .storageFull }
        await #expect(throws: ProviderError.failed("It is broken.")) {
            _ = try await combined.refreshFeed("")
        }
        await #expect(throws: EngineError.self) { _ = try await combined.refreshFeed("album") }
    }

    @Test func `the source memories has the accounts with that capability`() async throws {
        let albums = FakeAlbums(capabilities: [.feed, .register, .memories])
        // The sessions of this provider have a source `memories`, but it does not state the capability.
        let fixture = try EngineFixture(providers: [albums, FakeLocalProvider()])
        let combined = fixture.engine.combined
        var options = LoginOptions()
        options.username = "eve"
        _ = try await fixture.engine.logins.start("home", options).wait()
        #expect(combined.sources().map(\.id.text) == ["all", "likes"])
        for name in ["ada", "bob"] {
            albums.setPhotos(name, ["\(name.prefix(1))9": 90])
            try await fixture.logIn(name)
        }
        albums.update("ada") {
            $0.memories = [.init(id: "a1", created: 50), .init(id: "a2", created: 30)]
        }
        albums.update("bob") { $0.memories = [.init(id: "b1", created: 40)] }
        let source = try #require(combined.sources().first { $0.id == CombinedFeed.memories })
        #expect(source.kind == .feed)
        let (first, cursor) = try await page(fixture, count: 2, source: "memories")
        #expect(first == ["ada/a1", "bob/b1"])
        #expect(
            try await page(fixture, cursor, count: 2, source: "memories")
                == (ids: ["ada/a2"], next: ""))
        try await combined.setDefaultSource(CombinedFeed.memories)
        #expect(try await page(fixture).ids == ["ada/a1", "bob/b1", "ada/a2"])
        // As long as no account has the source, the default source is the one with all photos.
        for account in fixture.engine.accounts.all where account.id.text.hasPrefix("fake_") {
            try await fixture.engine.accounts.logOut(account)
        }
        #expect(combined.sources().map(\.id.text) == ["all", "likes"])
        #expect(combined.defaultSource == CombinedFeed.all)
        try await fixture.logIn("bob")
        #expect(combined.defaultSource == CombinedFeed.memories)
        #expect(try await page(fixture).ids == ["bob/b1"])
    }

    @Test func `the default source is stored`() async throws {
        let fixture = try await makeFixture("ada")
        albums.setPhotos("ada", ["a1": 1])
        let combined = fixture.engine.combined
        #expect(combined.defaultSource == CombinedFeed.all)
        for source in [SourceID("album"), CombinedFeed.memories] {
            await #expect(throws: EngineError.self) { try await combined.setDefaultSource(source) }
        }
        try await combined.setDefaultSource(CombinedFeed.likes)
        #expect(try await page(fixture).ids == [])
        #expect(try await page(fixture, source: "all").ids == ["ada/a1"])
        fixture.engine.stop()
        let next = try EngineFixture(fixture.directory, providers: [albums])
        #expect(next.engine.combined.defaultSource == CombinedFeed.likes)
        #expect(next.engine.combined.sources().map(\.id.text) == ["all", "likes"])
    }
}
