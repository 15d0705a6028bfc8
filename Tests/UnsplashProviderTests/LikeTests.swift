import ProviderKit
import TestSupport
import Testing

@testable import UnsplashProvider

struct LikeTests {
    @Test func `a like returns the number of likes`() async throws {
        let liked = try recordings.response("photo_like_201")
        let unliked = try recordings.response("photo_unlike_200")
        let fixture = Fixture { $0.method == .post ? liked : unliked }
        #expect(try await fixture.session.setLiked("-a_1", true) == 582)
        #expect(try await fixture.session.setLiked("-a_1", false) == 581)
        #expect(fixture.requestLines == ["POST /photos/-a_1/like", "DELETE /photos/-a_1/like"])
    }

    @Test(arguments: [(204, ""), (200, "ok"), (201, "{}"), (200, #"{"photo":{"likes":-1}}"#)])
    func `a like succeeds with any body`(status: Int, body: String) async throws {
        let fixture = Fixture(responding: .json(body, status: status))
        #expect(try await fixture.session.setLiked("a", true) == nil)
    }

    @Test func `an HTML page is a failure of a like`() async {
        let fixture = Fixture(responding: .json(" <html>"))
        await #expect(throws: ProviderError.self) { try await fixture.session.setLiked("a", true) }
    }

    @Test func `liked photos are requested with the current user name`() async throws {
        let name = Observed("ada")
        let photos = try recordings.response("user_likes_page1")
        let fixture = Fixture { request in
            if request.url.hasSuffix("/me") { return .json(#"{"username":"\#(name.value)"}"#) }
            return request.url.contains("/users/\(name.value)/likes")
                ? photos : .json(#"{"errors":["Couldn't find User"]}"#, status: 404)
        }
        #expect(try await fixture.session.page("likes").photos.count == 10)
        name.update { $0 = "grace" }
        for _ in 1...2 { _ = try await fixture.session.page("likes") }
        let query = "?page=1&per_page=30"
        #expect(
            fixture.requestLines == [
                "/me", "/users/ada/likes\(query)", "/users/ada/likes\(query)", "/me",
                "/users/grace/likes\(query)", "/users/grace/likes\(query)",
            ])
    }

    @Test func `a missing list of likes is not found`() async throws {
        let fixture = Fixture { request in
            request.url.hasSuffix("/me")
                ? .json(#"{"username":"ada"}"#) : .json(#"{"errors":["gone"]}"#, status: 404)
        }
        for _ in 1...2 {
            await #expect(
                throws: ProviderError.notFound("There is no source \"likes\" at Unsplash.")
            ) { try await fixture.session.page("likes") }
        }
    }

    @Test func `photos in the list of likes are liked, and others only if the service states it`()
        async throws
    {
        let fixture = Fixture { request in
            request.url.hasSuffix("/me")
                ? .json(#"{"username":"ada"}"#)
                : .json(#"[{"id":"a","urls":{"full":"https://images.unsplash.com/a"}}]"#)
        }
        let likes = try await fixture.session.page("likes")
        #expect(likes.photos.map { [$0.photo.isLiked, $0.hasLikeState] } == [[true, true]])
        let feed = try await fixture.session.page("editorial")
        #expect(feed.photos.map { [$0.photo.isLiked, $0.hasLikeState] } == [[false, false]])
    }
}
