import Contract
import DBus
import Glibc
import ProviderKit
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of a cache on a disk that is full, cannot be written, or is removed.
@Suite(
    .privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10)),
    .enabled(if: Disk.canMount, "mounting takes root"))
@MainActor
struct UnsplashDiskTests {
    @Test func `a full disk is reported and cached data can be read`() async throws {
        let fixture = try await UnsplashFixture(photoCount: 2_000)
        try await fixture.restart(launcher: Disk.small(Disk.cache, kibibytes: 600))
        let ada = try await fixture.logIn("ada")
        let first = try await ada.ids(count: 20)
        var cursor = ""
        let reply = await errorReply {
            for _ in 0..<40 { cursor = try await ada.page("", cursor: cursor, count: 100).next }
        }
        #expect(reply?.name == ServiceError.storageFull.name)
        #expect(reply?.message.contains("full") == true)
        #expect(try await ada.ids(count: 20) == first)
        // Likes are stored on another disk.
        #expect(try await ada.like(first[0]) == .done)
        #expect(try await ada.photo(first[0])["liked"] == .bool(true))
        #expect(try await ada.unlike(first[0]) == .done)
        #expect(try await ada.photo(first[0])["liked"] == .bool(false))
        #expect(fixture.unsplash.likes(of: "ada").isEmpty)
        let image = await errorReply { _ = try await ada.imagePath(first[1], size: "full") }
        #expect(image?.name == ServiceError.storageFull.name)
    }

    @Test func `likes are rejected on a full disk`() async throws {
        let (fixture, ada, ids) = try await readFeed(of: UnsplashFixture(), count: 20)
        try await fixture.restart(launcher: Disk.full(Disk.data))
        // Accounts and feeds can be read.
        #expect(try await ada.ids(count: 20) == ids)
        await expectError(.storageFull) { _ = try await ada.like(ids[0]) }
        #expect(try await fixture.property(ada, "Label") == .string("ada"))
        #expect(fixture.unsplash.requests("POST /photos/*/like").isEmpty)
    }

    @Test(arguments: [false, true])
    func `a cache that cannot be written is read and new data stay in memory`(
        isFull: Bool
    ) async throws {
        let (fixture, ada, ids) = try await readFeed(of: UnsplashFixture(), count: 20)
        try await fixture.daemon.stop()
        fixture.unsplash.stop()
        try await fixture.start(
            launcher: isFull ? Disk.full(Disk.cache) : Disk.readOnly(Disk.cache))
        #expect(try await ada.ids(count: 20) == ids)
        try await fixture.wait(ada, "offline")
        #expect(try await ada.like(ids[0]) == .queued)
        try fixture.unsplash.resume()
        try await fixture.unsplash.waitForReplies("POST /photos/*/like")
        try await fixture.waitForLikes(ada)
        #expect(try await ada.photo(ids[0])["liked"] == .bool(true))
        if !isFull {
            #expect(try await !ada.ids("topic:nature").isEmpty)
            #expect(try await ada.ids(count: 30).starts(with: ids))
        }
    }

    @Test func `a deleted cache is created again`() async throws {
        let (fixture, ada, ids) = try await readFeed(of: UnsplashFixture(), count: 20)
        let path = try await ada.imagePath(ids[0], size: "thumb")
        let avatar = try await fixture.client.avatar(of: ada)
        #expect(access(avatar, R_OK) == 0)
        try await Disk.remove(Disk.cache)
        _ = try await ada.properties(.profile)
        try await fixture.client.wait(ada.path, .profile, "Avatar", .string(""))
        #expect(try await ada.like(ids[1]) == .done)
        #expect(try await ada.ids(count: 20) == ids)
        // The address of the image may have changed, and with it its name.
        let new = try await ada.imagePath(ids[0], size: "thumb")
        #expect(access(path, R_OK) != 0 || new == path)
        #expect(access(new, R_OK) == 0)
        try await fixture.client.wait(ada.path, .profile, "Avatar", .string(avatar))
        #expect(access(avatar, R_OK) == 0)
    }

    @Test func `a damaged cache is replaced and reported in the log`() async throws {
        let (fixture, ada, ids) = try await readFeed(of: UnsplashFixture(), count: 20)
        try await fixture.daemon.stop()
        try PrivateBus.current.directory.write(
            String(repeating: "garbage ", count: 2_000), to: "\(Disk.cache)/cache.sqlite")
        try await fixture.start()
        #expect(try await ada.ids(count: 20) == ids)
        try await fixture.daemon.waitForLog("cannot be used and is created again")
    }

    @Test func `cached data are available after a start without a network`() async throws {
        let (fixture, ada, ids) = try await readFeed(of: UnsplashFixture())
        let path = try await ada.imagePath(ids[0], size: "regular")
        let profile = try await ada.properties(.profile)
        try await fixture.daemon.stop()
        fixture.unsplash.stop()
        try await fixture.start()
        #expect(try await ada.ids() == ids)
        #expect(try await ada.imagePath(ids[0], size: "regular") == path)
        try await fixture.wait(ada, "offline")
        let shown = try await ada.properties(.profile)
        for name in ["Name", "Username", "Bio", "Avatar"] { #expect(shown[name] == profile[name]) }
        for id in ids.prefix(10) { #expect(try await ada.like(id) == .queued) }
        // The like is undone before or after it is sent; in both cases, it is not liked in the end.
        _ = try await ada.unlike(ids[3])
        try await fixture.daemon.kill()
        try await fixture.start()
        #expect(try await ada.photo(ids[0])["pending"] == .bool(true))
        try fixture.unsplash.resume()
        try await fixture.wait(ada, "ready")
        try await fixture.waitForLikes(ada)
        let sent = fixture.unsplash.requests("POST /photos/*/like")
            .compactMap { $0.target.split(separator: "/").dropFirst().first.map(String.init) }
        #expect(sent.filter { $0 != ids[3] } == ids.prefix(10).filter { $0 != ids[3] })
        #expect(Set(fixture.unsplash.likes(of: "ada")) == Set(ids.prefix(10)).subtracting([ids[3]]))
    }
}
