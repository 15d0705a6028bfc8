import Glibc
import HTTP
import LoopbackHTTP
import PluginHosting
import ProviderKit
import ServiceSimulator
import TestSupport
import Testing
import UnsplashProvider
import UnsplashSimulator

/// A provider inside the daemon and as a plugin: the results are equal.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct BothWaysTests {
    private let unsplash: SimulatedUnsplash
    private let plugin: BuiltPlugin
    private let inside: any RemoteLikes & ProfileSession
    private let outside: any RemoteLikes & ProfileSession

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        unsplash = try SimulatedUnsplash.start()
        unsplash.addUser("ada")
        let token = Secret(unsplash.logIn("ada").access)
        let settings = ["ApiUrl": unsplash.apiURL, "WebUrl": unsplash.webURL]
        let http = AuthorizedHTTP(
            CurlClient(userAgent: "Test") {}, token: token, field: HTTPRequest.bearerField)
        let account = AccountIdentity(username: "ada")
        plugin = try BuiltPlugin("unsplash-plugin", unsplash.pluginManifest(), settings)
        inside = try #require(
            UnsplashProvider().makeSession(
                account,
                SessionPorts(http: http, settings: ProviderSettings(settings), logger: .silent))
                as? any RemoteLikes & ProfileSession)
        outside = try #require(plugin.session(account, http) as? any RemoteLikes & ProfileSession)
    }

    /// Returns a description of a photo, without the tickets by which the service counts its responses.
    private func told(_ remote: RemotePhoto) -> String {
        func plain(_ address: String) -> String {
            address.split(separator: "&").filter { !$0.contains("ixid=") }.joined(separator: "&")
        }
        let images = remote.images.map { "\($0) \(plain($1))" }.sorted()
        return "\(remote.photo) \(images) \(remote.hasLikeState)"
    }

    private func told(_ page: RemotePage) -> String {
        "RemotePage \(page.photos.map(told)) \(page.next ?? "") \(page.total ?? 0)"
    }

    /// Returns a description of the result of a call.
    private func outcome<Value>(_ body: () async throws -> Value) async -> String {
        do {
            return "\(try await body())"
        } catch ProviderError.rateLimited {
            return "rate limited"
        } catch {
            return "\(type(of: error)) \(error)"
        }
    }

    private func page(
        _ session: any RemoteFeed, _ source: String, _ place: String? = nil
    ) async -> String {
        await outcome { told(try await session.fetchPage(SourceID(source), from: place)) }
    }

    @Test func `a plugin returns the same sources, pages, photos and profiles`() async throws {
        let id = try #require(unsplash.feed.first).id
        #expect(try await inside.sources() == outside.sources())
        #expect(try await inside.profile() == outside.profile())
        for source in ["editorial", "search:fog", "user:ada", "likes", "topic:no-such-topic"] {
            var place: String?
            for _ in 0..<3 {
                #expect(await page(inside, source, place) == page(outside, source, place))
                guard let page = try? await inside.fetchPage(SourceID(source), from: place),
                    let next = page.next
                else { break }
                place = next
            }
        }
        #expect(
            told(try await inside.fetchPhoto(PhotoID("\(id)")))
                == told(try await outside.fetchPhoto(PhotoID("\(id)"))))
        #expect(
            await outcome { try await inside.fetchPhoto(PhotoID("none")) }
                == outcome { try await outside.fetchPhoto(PhotoID("none")) })
        #expect(outside.accepts(SourceID("topic:x")))
        #expect(!outside.accepts(SourceID("album:x")))
    }

    @Test func `a plugin sends likes and counts downloads`() async throws {
        let photo = try #require(unsplash.feed.first)
        let id = PhotoID("\(photo.id)")
        #expect(try await outside.setLiked(id, true) != nil)
        #expect(unsplash.likes(of: "ada") == [photo.id])
        #expect(try await inside.fetchPhoto(id).photo.isLiked)
        _ = try await outside.setLiked(id, false)
        #expect(unsplash.likes(of: "ada").isEmpty)
        try await outside.countDownload(try await outside.fetchPhoto(id))
        #expect(unsplash.downloads(of: photo.id) == 1)
    }

    @Test func `a plugin reports the same failures`() async throws {
        let faults: [(String, Fault)] = [
            ("rate limited", .rateLimited), ("too many", .tooManyRequests(retryAfterSeconds: 60)),
            ("401", .status(401, error: "no")), ("403", .status(403, error: "no")),
            ("404", .status(404, error: "no")), ("500", .htmlStatus(500)),
            ("a page", .htmlPage), ("half", .truncated), ("reset", .reset),
            ("nonsense", .json("{")), ("numbers", .json("[1,2]")),
            ("redirect", .redirect(to: "http://192.0.2.1/")),
        ]
        for (name, fault) in faults {
            unsplash.fail("/photos", fault, times: 2)
            let (one, other) = await (page(inside, "editorial"), page(outside, "editorial"))
            #expect(one == other, "\(name)")
            #expect(!one.hasPrefix("RemotePage"), "\(name)")
            unsplash.recover("/photos")
        }
        #expect(!plugin.log.value.contains { $0.contains("A plugin failed") })
    }

    @Test func `a plugin reports the rate limit`() async throws {
        var events = outside.events.makeAsyncIterator()
        _ = try await outside.fetchPage(SourceID("editorial"), from: nil)
        while let event = await events.next() {
            if case .rateLimit(let limit) = event {
                #expect(limit.limit > 0)
                return
            }
        }
        Issue.record("no rate limit was reported")
    }
}
