import Foundation
import ProviderKit
import TestSupport
import Testing
import WebService
import WikimediaSimulator

@testable import DailyProvider

/// Tests of the session at a simulated service.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct SessionTests {
    @Test func `a walk has the picture of each day, the newest first, and ends`() async throws {
        let (fixture, commons) = try SimulatedSession(pictureCount: 100).withServer
        let photos = try await fixture.walk()
        #expect(photos.map(\.photo.id.text) == commons.pictures)
        #expect(photos.count == 100)
        // Three requests for each page, and one that finds the end.
        #expect(commons.requests("/w/api.php").count <= 3 * 4 + 1)
        for request in commons.requests() {
            #expect(request["User-Agent"]?.contains("+https") == true)
        }
        for (photo, next) in zip(photos, photos.dropFirst()) {
            #expect(try #require(photo.photo.created) > #require(next.photo.created))
        }
    }

    @Test func `the first page has thirty days`() async throws {
        let fixture = try SimulatedSession(pictureCount: 100)
        let page = try await fixture.session.page("all")
        #expect(page.photos.count == 30 - SimulatedWikimedia.emptyDays)
        let token = try #require(page.next)
        let newest = fixture.commons.publish()
        let again = try await fixture.session.page("all")
        #expect((again.next, again.photos.first?.photo.id.text) == (token, newest))
        let second = try await fixture.session.page("all", from: token)
        #expect(second.photos.count == 30)
    }

    @Test func `a refresh without a new picture takes one request for an hour`() async throws {
        let time = Observed(Timestamp.now)
        let (fixture, commons) = try SimulatedSession(now: { time.value }).withServer
        func countOfRefresh() async throws -> Int {
            let before = commons.requestCount
            let page = try await fixture.session.page("all")
            let expected = commons.pictures.prefix(page.photos.count)
            #expect(page.photos.map(\.photo.id.text) == Array(expected))
            return commons.requestCount - before
        }
        #expect(try await countOfRefresh() == 3)
        #expect(try await countOfRefresh() == 1)
        commons.publish()
        #expect(try await countOfRefresh() == 3)
        #expect(try await countOfRefresh() == 1)
        // A deleted file is noticed after an hour.
        commons.delete(commons.pictures[3])
        time.update { $0 = $0 + .seconds(3600) }
        #expect(try await countOfRefresh() == 3)
    }

    @Test func `a picture has its title, author, licence, link and sizes`() async throws {
        let (fixture, commons) = try SimulatedSession().withServer
        let id = commons.pictures[0]
        let remote = try await fixture.session.fetchPhoto(id)
        let photo = remote.photo
        let page = try #require(id.split(separator: "-").last)
        #expect(photo.title == "Picture \(page)")
        #expect([photo.author, photo.license] == ["Ada & Co, CC BY-SA 4.0", "CC BY-SA 4.0"])
        #expect(photo.authorURL == "https://commons.wikimedia.org/wiki/User:Ada_%26_Co")
        #expect(photo.description == "A red bicycle,\nnumber\u{a0}\(page)")
        #expect(photo.url == "\(commons.url)/wiki/File:\(page)" && !remote.hasLikeState)
        #expect((photo.width, photo.height, photo.mediaType) == (6000, 4000, "image/jpeg"))
        let base = commons.imagesURL
        #expect(
            remote.images == [
                .thumb: "\(base)/thumb/\(page)/330px-picture.jpg",
                .small: "\(base)/thumb/\(page)/960px-picture.jpg",
                .regular: "\(base)/thumb/\(page)/1920px-picture.jpg",
                .full: "\(base)/original/\(page)",
            ])
        // The same photo as in the list.
        #expect(try await fixture.walk().first == remote)
    }

    @Test func `days without a picture, with a video or with a deleted file are left out`()
        async throws
    {
        let (fixture, commons) = try SimulatedSession().withServer
        let all = commons.pictures
        commons.change(all[1]) { $0.mediaType = "video/webm" }
        commons.change(all[2]) { $0.mediaType = "application/ogg" }
        commons.delete(all[3])
        commons.removeDay(of: all[4])
        #expect(try await fixture.walk().map(\.photo.id.text) == [all[0]] + all.dropFirst(5))
        for id in [all[1], all[3], all[4], "2026-11-22-1", "no-such-photo"] {
            await #expect(throws: ProviderError.self) { try await fixture.photo(id) }
        }
    }

    @Test func `originals that cannot be shown have a rendered image`() async throws {
        let (fixture, commons) = try SimulatedSession().withServer
        let ids = commons.pictures
        commons.change(ids[0]) { $0.mediaType = "image/tiff" }
        commons.change(ids[1]) { $0.bytes = 300 << 20 }
        commons.change(ids[2]) { ($0.mediaType, $0.width, $0.height) = ("image/svg+xml", 300, 200) }
        commons.change(ids[3]) { ($0.width, $0.height) = (800, 600) }
        let photos = try await fixture.walk().prefix(4)
        for photo in photos[..<3] {
            #expect(photo.images[.full]?.hasSuffix("/3840px-picture.jpg") == true)
        }
        #expect(photos[0].photo.mediaType == "image/jpeg")
        // No thumbnail is wider than the original.
        #expect(photos[3].images[.thumb]?.hasSuffix("/330px-picture.jpg") == true)
        #expect(photos[3].images[.regular] == photos[3].images[.full])
        for url in photos.flatMap(\.images.values) {
            let response = try await fixture.http.send(HTTPRequest(.get, url))
            #expect(response.status == 200, "\(url)")
        }
    }

    @Test func `long lists, icons and moved files do not change the pictures`() async throws {
        let (fixture, commons) = try SimulatedSession().withServer
        commons.showsIcons = true
        commons.imagesPerResponse = 11
        commons.change(commons.pictures[1]) { $0.formerName = "Old name.jpg" }
        #expect(try await fixture.walk().map(\.photo.id.text) == commons.pictures)
        commons.imagesPerResponse = 1
        await #expect(throws: ProviderError.self) { try await fixture.walk() }
    }

    @Test func `the picture is the file that the template names`() async throws {
        let (fixture, commons) = try SimulatedSession().withServer
        commons.showsIcons = true
        commons.change(commons.pictures[0]) { $0.name = "Fog & rain.jpg" }
        #expect(try await fixture.walk().map(\.photo.id.text) == commons.pictures)
    }

    @Test func `a refused width is replaced by the next larger standard width`() async throws {
        let (fixture, commons) = try SimulatedSession().withServer
        let photo = try await fixture.session.fetchPhoto(commons.pictures[0])
        let client = try #require(fixture.session.remoteImages).imageClient
        commons.refusedWidths = [330, 500]
        for size in [ImageSize.thumb, .full] {
            let image = try await client.downloadImage(try #require(photo.images[size]))
            #expect(image.status == 200, "\(size)")
        }
        let last = commons.requests(on: .images).last { $0.path.contains("px-") }
        #expect(last?.path.contains("/960px-") == true)
    }

    @Test func `a limit of the service names the time of the next request`() async throws {
        let now = Timestamp(secondsSince1970: Timestamp.now.secondsSince1970)
        let (fixture, commons) = try SimulatedSession(now: { now }).withServer
        commons.lag = 9
        await #expect(throws: ProviderError.rateLimited(until: now + .seconds(5))) {
            try await fixture.walk()
        }
        commons.lag = 0
        for status in [429, 503] {
            var reply = Reply(status, html: "<p>Too many requests</p>")
            reply.set("Retry-After", "90")
            commons.fail("/w/api.php", .reply(reply), times: 1)
            await #expect(throws: ProviderError.rateLimited(until: now + .seconds(90))) {
                try await fixture.walk()
            }
        }
        commons.fail("/w/api.php", .textStatus(429, ""), times: 1)
        await #expect(throws: ProviderError.rateLimited(until: nil)) { try await fixture.walk() }
        #expect(try await !fixture.walk().isEmpty)
    }

    @Test func `a clock in the future is reported`() async throws {
        let fixture = try SimulatedSession(now: { .now + .seconds(400 * 86_400) })
        let error = await #expect(throws: ProviderError.self) {
            try await fixture.session.page("all")
        }
        #expect("\(try #require(error))".contains("check the date"))
        await #expect(throws: ProviderError.staleCursor) {
            try await fixture.session.page("all", from: "7")
        }
    }

    @Test func `several photos take two requests`() async throws {
        let fixture = try SimulatedSession(pictureCount: 60)
        let ids = fixture.commons.pictures.prefix(50).map { PhotoID($0) }
        fixture.commons.delete(ids[7].text)
        let photos = try await fixture.session.fetchPhotos(ids)
        #expect(photos.map(\.photo.id) == Array(ids[..<7] + ids[8...]))
        #expect(fixture.commons.requests("/w/api.php").count == 2)
    }

    @Test func `the profile is that of the site`() async throws {
        let fixture = try SimulatedSession()
        let profile = try await #require(fixture.session.profileSession).profile()
        #expect(profile.username == "commons" && profile.name == "Wikimedia Commons")
        #expect(profile.avatarURL == fixture.commons.imagesURL + "/logo.jpg")
    }
}
