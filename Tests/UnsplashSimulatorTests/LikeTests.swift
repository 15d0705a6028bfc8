import TestSupport
import Testing
import UnsplashSimulator

@Suite(.timeLimit(.minutes(10)))
struct LikeTests {
    private let unsplash: SimulatedUnsplash
    private let ada: String
    private let grace: String
    private let photo: SimulatedPhoto

    init() throws {
        unsplash = try .start()
        unsplash.addUser("ada")
        unsplash.addUser("grace")
        ada = unsplash.logIn("ada").access
        grace = unsplash.logIn("grace").access
        photo = unsplash.publish { $0.hasLikes = true }
    }

    private func like(_ token: String?, _ method: String = "POST") async throws
        -> LoopbackClient.Response
    {
        try await unsplash.send("\(method) /photos/\(photo.id)/like", token: token)
    }

    private func first(_ token: String?) async throws -> Document? {
        try await unsplash.send("/photos", token: token).document.elements.first
    }

    @Test func `a like is visible only to its user`() async throws {
        #expect(try await like(ada).status == 201)
        #expect(try await first(ada)?["liked_by_user"] == .bool(true))
        #expect(try await first(grace)?["liked_by_user"] == .bool(false))
        #expect(try await first(nil)?["liked_by_user"] == .bool(false))
        #expect(try await first(nil)?["likes"] == .number(Double(photo.otherLikes + 1)))
        #expect(try await unsplash.send("/users/ada/likes").ids == [photo.id])
        #expect(try await unsplash.send("/users/grace/likes").text == "[]")
    }

    @Test func `likes and unlikes may be repeated`() async throws {
        for _ in 1...2 {
            let response = try await like(ada)
            #expect(response.status == 201)
            #expect(
                try response.document["photo"]?["likes"] == .number(Double(photo.otherLikes + 1)))
        }
        for _ in 1...2 {
            let response = try await like(ada, "DELETE")
            #expect(response.status == 200)
            #expect(try response.document["photo"]?["likes"] == .number(Double(photo.otherLikes)))
            #expect(try response.document["photo"]?["liked_by_user"] == .bool(false))
        }
        #expect(unsplash.likes(of: "ada") == [])
    }

    @Test func `an unlike may have an empty response`() async throws {
        unsplash.settings.hasEmptyUnlikeReply = true
        let response = try await like(ada, "DELETE")
        #expect(response.status == 204)
        #expect(response.body.isEmpty)
        #expect(response["Content-Length"] == nil)
    }

    @Test func `a like requires its scope`() async throws {
        let reader = unsplash.logIn("ada", scopes: ["public"]).access
        let response = try await like(reader)
        #expect(response.status == 403)
        #expect(response.text == #"{"errors":["OAuth error: missing permissions"]}"#)
        #expect(try await unsplash.send("/me", token: reader).status == 403)
    }

    @Test(arguments: [403, 404, 410])
    func `like endpoints may be missing while the fields exist`(_ status: Int) async throws {
        unsplash.settings.likes = .refused(status: status)
        #expect(try await like(ada).status == status)
        #expect(try await unsplash.send("/users/ada/likes", token: ada).status == status)
        #expect(try await first(ada)?["liked_by_user"] != nil)
        #expect(unsplash.likes(of: "ada") == [])
    }

    @Test func `like endpoints and fields may be missing`() async throws {
        unsplash.settings.likes = .absent
        #expect(try await like(ada).status == 404)
        let photo = try #require(await first(ada))
        #expect(photo["likes"] == nil && photo["liked_by_user"] == nil)
        #expect(photo["user"]?["links"]?["likes"] == nil && photo["user"]?["total_likes"] == nil)
        #expect(photo["user"]?["links"]?["photos"] != nil)
    }

    @Test func `a deleted photo stays among the likes`() async throws {
        #expect(try await like(ada).status == 201)
        unsplash.delete(photo.id)
        #expect(try await unsplash.send("/users/ada/likes", token: ada).ids == [photo.id])
        #expect(try await unsplash.send("/photos/\(photo.id)").status == 404)
        let image = unsplash.imagesURL + photo.imagePath + "?ixid=a"
        #expect(try await LoopbackClient.send("GET", image).status == 404)
    }

    @Test func `a cached response has the old likes`() async throws {
        unsplash.settings.cachesReplies = true
        let before = try await unsplash.send("/photos", token: ada)
        #expect(before["X-Cache"] == "MISS, MISS")
        #expect(try await like(ada).status == 201)
        let after = try await unsplash.send("/photos", token: ada)
        #expect(after.body == before.body)
        #expect(after["X-Cache"] == "MISS, HIT")
        #expect(after["Age"] != "0")
        #expect(after["X-Ratelimit-Remaining"] == before["X-Ratelimit-Remaining"])
        #expect(try await first(grace)?["likes"] == .number(Double(photo.otherLikes + 1)))
        unsplash.settings.cachesReplies = false
        #expect(try await first(ada)?["liked_by_user"] == .bool(true))
    }
}
