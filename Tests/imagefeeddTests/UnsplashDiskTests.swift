import Contract
import DBus
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
        await expectError(.storageFull) { _ = try await ada.imagePath(first[1], size: "full") }
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
    func `a cache that cannot be written is read and extended`(isFull: Bool) async throws {
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
}
