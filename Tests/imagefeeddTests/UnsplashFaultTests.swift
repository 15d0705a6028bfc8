import Contract
import DBus
import Foundation
import Glibc
import ProviderKit
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of a service that is unavailable, limits requests, or sends invalid responses.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(10))) @MainActor
struct UnsplashFaultTests {
    @Test func `calls of many clients cause few requests`() async throws {
        let fixture = try await UnsplashFixture()
        fixture.unsplash.settings.requestsPerHour = 50
        let ada = try await fixture.logIn("ada")
        let photo = try #require(try await fixture.ids(ada).first)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    switch number % 5 {
                    case 0: _ = try await fixture.ids(ada, count: 10)
                    case 1: _ = try await fixture.ids(ada, count: UInt32(1 + number % 30))
                    case 2: _ = try await ada.photo(photo)
                    case 3: _ = try await ada.sources()
                    default: _ = try await fixture.ids(ada, "likes")
                    }
                }
            }
            try await group.waitForAll()
        }
        // Two requests for the profile and for the feed, which has gaps; one for the likes and for the topics.
        #expect(fixture.requestCount <= 6, "\(fixture.unsplash.requests(on: .api).map(\.target))")
        #expect(try await fixture.property(ada, "State") == .string("ready"))
        try await fixture.daemon.stop()
    }

    @Test func `no request is sent during a rate limit`() async throws {
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        let ids = try await fixture.ids(ada)
        fixture.unsplash.leaveRequests(0)
        await expectError(ServiceError.rateLimited.name) { _ = try await ada.refresh("") }
        let properties = try await ada.properties(.account)
        #expect(properties["State"] == .string("rate-limited"))
        #expect(try #require(properties["RetryAt"]?.int64) > Int64(time(nil)))
        #expect(properties["StateReason"]?.string?.isEmpty == false)
        #expect(
            properties["RateLimit"] == .structure([.uint32(0), .uint32(1000), .int64(0)]))
        let count = fixture.requestCount
        #expect(try await fixture.ids(ada) == ids)
        #expect(try await ada.like(ids[0]) == .queued)
        await expectError(ServiceError.rateLimited.name) { _ = try await ada.refresh("") }
        await expectError(ServiceError.rateLimited.name) {
            _ = try await fixture.ids(ada, "search:sea")
        }
        #expect(try await Terminal.run("refresh").exit == .code(75))
        #expect(fixture.requestCount == count)
        // Images are on another host without a limit.
        #expect(try await !ada.imagePath(ids[0], size: "thumb").isEmpty)
        try await fixture.daemon.stop()
    }

    @Test func `an account continues automatically after a rate limit`() async throws {
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        let ids = try await fixture.ids(ada)
        fixture.unsplash.fail("GET /photos", .tooManyRequests(retryAfterSeconds: 15), times: 1)
        await expectError(ServiceError.rateLimited.name) { _ = try await ada.refresh("") }
        #expect(try await ada.like(ids[0]) == .queued)
        #expect(fixture.unsplash.requests("POST /photos/*/like").isEmpty)
        try await fixture.wait(ada, "ready")
        try await fixture.unsplash.waitForRequests("POST /photos/*/like")
        try await fixture.daemon.stop()
    }

    @Test(arguments: [
        Fault.htmlPage, .truncated, .reset, .status(500, error: "no"), .status(404, error: "no"),
        .redirect(to: "http://10.0.0.1/"), .redirect(to: "file:///etc/passwd"), .json(""),
    ])
    func `a failed image request leaves no file`(fault: Fault) async throws {
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        let id = try #require(try await fixture.ids(ada).first)
        fixture.unsplash.fail("GET /*photo*", fault)
        let reply = try #require(
            await errorReply { _ = try await ada.imagePath(id, size: "regular") })
        #expect(
            [ServiceError.serviceFailed.name, ServiceError.notFound.name].contains(reply.name),
            "\(reply)")
        #expect(reply.message.hasSuffix("."))
        let folder = try PrivateBus.current.directory.appending(
            "home/.cache/imagefeed/images/unsplash_ada")
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
        // The avatar may be cached, together with its metadata.
        #expect((names ?? []).count { !$0.hasSuffix(".note") } <= 1, "\(names ?? [])")
        fixture.unsplash.recover("GET /*photo*")
        let path = try await ada.imagePath(id, size: "regular")
        let start = try Data(contentsOf: URL(filePath: path)).prefix(2)
        #expect(Array(start) == [0xff, 0xd8])
        #expect(try await fixture.property(ada, "State") == .string("ready"))
        try await fixture.daemon.stop()
    }
}
