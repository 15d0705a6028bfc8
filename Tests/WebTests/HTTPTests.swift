import Testing
import Web

struct HTTPTests {
    @Test func `header names are case-insensitive, and values are in order`() {
        let headers: HTTPHeaders = ["Link": "a", "X-Total": "3", "LINK": "b"]
        #expect(headers["x-total"] == "3")
        #expect(headers["link"] == "a")
        #expect(headers.all("Link") == ["a", "b"])
        #expect(headers["Warning"] == nil)
    }

    @Test func `the description of a request contains neither query nor headers`() {
        var request = HTTPRequest(.get, "https://example.org/token?code=hidden#hidden")
        request.headers.append("Cookie", "hidden")
        request.setForm([("client_secret", "hidden")])
        request.token = Secret("hidden")
        for text in ["\(request)", String(reflecting: request), "\([request])"] {
            #expect(!text.contains("hidden"), "\(text)")
        }
        var dump = ""
        Swift.dump(request, to: &dump)
        #expect(!dump.contains("hidden"))
    }

    @Test(arguments: [
        ("120", 120), ("0", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 37), ("-1", nil), ("soon", nil),
        ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("Sun, 06 Nov 1994 08:48:00 GMT", 0),
        ("Sun, 06 Nov 1994 08:49:37 GMT ", nil), ("Son, 06 Nov 1994 08:49:37 GMT", nil),
        ("Sun, 06 Okt 1994 08:49:37 GMT", nil), ("Sun, 31 Feb 1994 08:49:37 GMT", nil),
        ("Sun, 6 Nov 1994 08:49:37 GMT", nil), ("Mon, 07 Nov 1994 00:00:00 GMT", 54660),
    ])
    func `Retry-After is parsed as a number of seconds or as a date`(value: String, seconds: Int64?)
    {
        let response = HTTPResponse(status: 429, headers: ["retry-after": value], url: "")
        let now = Timestamp(secondsSince1970: 784_111_740)
        #expect(response.retryAfter(now: now) == seconds.map { .seconds($0) })
    }

    @Test func `a date in Retry-After is one of the clock of the server`() {
        let response = HTTPResponse(
            status: 429,
            headers: [
                "Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT",
                "Date": "Sun, 06 Nov 1994 08:48:37 GMT",
            ], url: "")
        #expect(
            response.retryAfter(now: Timestamp(secondsSince1970: 1_800_000_000)) == .seconds(60))
    }

    @Test func `a Retry-After beyond the last time is limited to the last time`() throws {
        let now = Timestamp(secondsSince1970: 1_800_000_000)
        let response = HTTPResponse(
            status: 429, headers: ["retry-after": "9223372036854775807"], url: "")
        #expect((now + (try #require(response.retryAfter(now: now)))).secondsSince1970 == .max)
    }
}
