import TestSupport
import Testing
import UnsplashSimulator

@Suite(.timeLimit(.minutes(10)))
struct FaultTests {
    private let unsplash: SimulatedUnsplash

    init() throws { unsplash = try .start() }

    @Test func `a fault applies a number of times`() async throws {
        unsplash.fail("/photos", .htmlStatus(503), times: 1)
        unsplash.fail("/photos", .status(422, error: "Username is missing"), times: 1)
        let first = try await unsplash.send("/photos?page=2")
        #expect(first.status == 503)
        #expect(first["Content-Type"]?.hasPrefix("text/html") == true)
        let second = try await unsplash.send("/photos")
        #expect(second.text == #"{"errors":["Username is missing"]}"#)
        #expect(try await unsplash.send("/photos").status == 200)
    }

    @Test func `a fault applies until it is removed, to matching requests`() async throws {
        unsplash.fail("POST /photos/*/like", .textStatus(500, "no"))
        for _ in 1...3 { #expect(try await unsplash.send("POST /photos/a/like").status == 500) }
        #expect(try await unsplash.send("DELETE /photos/a/like").status == 401)
        #expect(try await unsplash.send("/photos").status == 200)
        unsplash.recover("POST /photos/*/like")
        #expect(try await unsplash.send("POST /photos/a/like").status == 401)
    }

    @Test func `the rate limit has plain text and header fields`() async throws {
        let response = try await unsplash.send("/photos")
        #expect(response["X-Ratelimit-Limit"] == "1000")
        #expect(response["X-Ratelimit-Remaining"] == "999")
        unsplash.leaveRequests(1)
        #expect(try await unsplash.send("/photos")["X-Ratelimit-Remaining"] == "0")
        let refused = try await unsplash.send("/photos")
        #expect(refused.status == 403)
        #expect(refused.text == "Rate Limit Exceeded")
        #expect(refused["X-Ratelimit-Remaining"] == "0")
        unsplash.advanceClock(seconds: 3600)
        #expect(try await unsplash.send("/photos").status == 200)
        unsplash.fail("*", .rateLimited, times: 1)
        #expect(try await unsplash.send("/me").text == "Rate Limit Exceeded")
        unsplash.fail("*", .tooManyRequests(retryAfterSeconds: 7), times: 1)
        #expect(try await unsplash.send("/photos")["Retry-After"] == "7")
    }

    @Test func `a fault may add a header field or replace the body`() async throws {
        unsplash.fail("/photos", .header("Warning", "Likes will go"), times: 1)
        #expect(try await unsplash.send("/photos")["Warning"] == "Likes will go")
        unsplash.fail("/photos", .json(#"[{"id":"#), times: 1)
        #expect(try await unsplash.send("/photos").text == #"[{"id":"#)
    }

    @Test func `a connection reset may come before or after the action`() async throws {
        unsplash.addUser("ada")
        let token = unsplash.logIn("ada").access
        let id = try #require(unsplash.feed.first?.id)
        for (fault, likes) in [(Fault.reset, []), (.responseLost, [id])] {
            unsplash.fail("POST /photos/*/like", fault, times: 1)
            await #expect(throws: SystemError.self) {
                try await unsplash.send("POST /photos/\(id)/like", token: token)
            }
            #expect(unsplash.likes(of: "ada") == likes)
        }
    }

    @Test func `a body may be truncated, slow or endless`() async throws {
        unsplash.stopClock()
        let whole = try await unsplash.send("/photos?per_page=1")
        unsplash.fail("/photos", .truncated, times: 1)
        let half = try await unsplash.send("/photos?per_page=1")
        #expect(half.body == Array(whole.body.prefix(whole.body.count / 2)))
        unsplash.fail("/photos", .drip(bytes: 1000, pause: .milliseconds(1)), times: 1)
        #expect(try await unsplash.send("/photos?per_page=1").body == whole.body)
        unsplash.fail("/photos", .endless, times: 1)
        let endless = try await LoopbackClient.send(
            "GET", "\(unsplash.apiURL)/photos?client_id=\(unsplash.clientID)",
            maximumBytes: 1 << 20)
        #expect(endless.body.count > 1 << 19)
    }

    @Test func `a request is held until it is released`() async throws {
        let gate = unsplash.hold("/photos")
        async let response = unsplash.send("/photos")
        #expect(try await unsplash.waitForRequests("/photos").first?.status == 0)
        let photo = unsplash.publish()
        gate.release()
        #expect(try await response.ids.first == photo.id)
        #expect(try await unsplash.send("/photos").status == 200)
    }

    @Test func `a redirect to another host is recorded`() async throws {
        unsplash.fail("/photos", .redirect(to: unsplash.unrelatedURL + "/x"), times: 1)
        let location = try #require(try await unsplash.send("/photos")["Location"])
        _ = try await LoopbackClient.send("GET", location, headers: [("Authorization", "Bearer a")])
        let request = try #require(unsplash.requests(on: .unrelated).first)
        #expect(request.path == "/x")
        #expect(request["authorization"] == "Bearer a")
    }

    @Test func `requests are recorded with their user`() async throws {
        unsplash.addUser("ada")
        _ = try await unsplash.send("/photos?page=2", token: unsplash.logIn("ada").access)
        _ = try await unsplash.send("/users/none")
        let requests = unsplash.requests()
        #expect(requests.map(\.path) == ["/photos", "/users/none"])
        #expect(requests.map(\.username) == ["ada", nil])
        #expect(requests.map(\.status) == [200, 404])
        #expect(requests.map(\.number) == [0, 1])
        #expect(requests.first?["accept-version"] == "v1")
        #expect(requests.first?.query["page"] == "2")
        #expect(unsplash.requests("/users/*").count == 1)
        #expect(unsplash.requests("POST /photos").isEmpty)
    }
}
