import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import OAuth

@Suite(.timeLimit(.minutes(10))) @MainActor
struct RedirectListenerTests {
    private let clock = ManualClock()
    private let redirects: RedirectListeners

    init() { redirects = RedirectListeners(clock: clock) }

    private func authorize(_ description: OAuthDescription = .sample) throws -> Authorization {
        let authorization = Authorization(description, clientID: "app", redirects: redirects)
        try #require(authorization.listenerError == nil)
        return authorization
    }

    @Test func `the page shows the end of the login, also after a reload`() async throws {
        let login = try authorize()
        let browser = try login.browser(following: "code=abc")
        #expect(try await login.code().text == "abc")
        #expect(browser.received.value.text.isEmpty)
        login.finish(.loggedIn)
        let page = try await browser.answer()
        #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(page.contains("<h1>You are logged in</h1>"))
        for header in [
            "Cache-Control: no-store", "Referrer-Policy: no-referrer", "Connection: close",
            "X-Content-Type-Options: nosniff",
            "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'",
        ] { #expect(page.contains("\r\n\(header)"), "\(header)") }
        // The first verdict counts.
        login.finish(.failed("no"))
        #expect(try await login.answer(to: login.redirect("code=def")) == page)
        #expect(try await login.code().text == "abc")
    }

    @Test func `the page shows a denied login and a failed one`() async throws {
        let denied = try authorize()
        let browser = try denied.browser(following: "error=access_denied&error_description=no")
        await #expect(throws: OAuthError.denied) { _ = try await denied.code() }
        denied.finish(.denied)
        #expect(try await browser.answer().contains("<h1>You denied access</h1>"))

        let failed = try authorize()
        let other = try failed.browser(
            following: "error=bad%3Cb%3E&error_description=%3Cscript%3E%0A%22it%27s%22")
        await #expect(throws: OAuthError.refused("bad<b>: <script> \"it's\"")) {
            _ = try await failed.code()
        }
        failed.finish(.failed("bad<b>: <script>\u{202e} \"it's\" &"))
        let page = try await other.answer()
        #expect(page.contains("<p>bad&lt;b&gt;: &lt;script&gt; &quot;it&#39;s&quot; &amp;</p>"))
        #expect(!page.contains("<script>"))
    }

    @Test(arguments: hostileRequests.keys.sorted())
    func `a request that is no redirect of the login changes nothing`(_ name: String) async throws {
        let login = try authorize()
        let request = try #require(hostileRequests[name])
        let answer = try await login.answer(to: request(login))
        #expect(answer.hasPrefix("HTTP/1.1 \(name.prefix(3)) "), "\(answer)")
        #expect(answer.contains("\r\nConnection: close\r\n"))
        // The right redirect still works.
        let browser = try login.browser(following: "code=real")
        #expect(try await login.code().text == "real")
        login.finish(.loggedIn)
        #expect(try await browser.answer().contains("You are logged in"))
    }

    @Test func `the response of another service fails the login`() async throws {
        let description = OAuthDescription.sample { $0.issuer = "https://photos.example/" }
        let good = try authorize(description)
        let browser = try good.browser(following: "code=abc&iss=https%3A%2F%2Fphotos.example%2F")
        #expect(try await good.code().text == "abc")
        let bad = try authorize(description)
        let other = try bad.browser(following: "code=abc&iss=https%3A%2F%2Fevil.example%2F")
        await #expect(
            throws: OAuthError.refused("The response came from another service; log in again.")
        ) {
            _ = try await bad.code()
        }
        withExtendedLifetime((browser, other)) {}
    }

    @Test func `logins share a port and are distinguished by state`() async throws {
        let port = try authorize().port
        let description = OAuthDescription.sample { $0.redirectPort = port }
        let logins = [try authorize(description), try authorize(description)]
        #expect(logins[0].port == logins[1].port)
        #expect(logins[0].url != logins[1].url)
        var browsers: [RawClient] = []
        for (number, login) in logins.enumerated().reversed() {
            let browser = try login.browser(following: "code=code\(number)")
            #expect(try await login.code().text == "code\(number)")
            browsers.append(browser)
        }
        logins[0].finish(.denied)
        logins[1].finish(.loggedIn)
        #expect(try await browsers[0].answer().contains("You are logged in"))
        #expect(try await browsers[1].answer().contains("You denied access"))
    }

    @Test func `a port in use leaves the manual login`() async throws {
        let first = try authorize()
        let description = OAuthDescription.sample { $0.redirectPort = first.port }
        let other = RedirectListeners(clock: clock)
        let login = Authorization(description, clientID: "app", redirects: other)
        #expect(login.listenerError == .portTaken(try #require(first.port)))
        #expect(login.request.redirectAddress == "urn:ietf:wg:oauth:2.0:oob")
        #expect(login.url.contains("redirect_uri=urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob&"))
        #expect(throws: OAuthError.invalidCode("The code is empty; copy it again.")) {
            try login.submit(" ")
        }
        try login.submit(" https://unsplash.com/oauth/authorize/native?code=pasted\n")
        #expect(try await login.code().text == "pasted")
        login.finish(.loggedIn)
    }

    @Test func `the last login of a port frees it for immediate use`() async throws {
        var login: Authorization? = try authorize()
        let port = try #require(login?.port)
        let description = OAuthDescription.sample { $0.redirectPort = port }
        // The server closes first, so that the connection remains in TIME_WAIT.
        _ = try await login?.answer(to: "GET / HTTP/1.1\r\n\r\n")
        login = nil
        try await waitUntilClosed(port)
        for _ in 0..<3 {
            try expectPort(port, description)
            try await waitUntilClosed(port)
        }
    }

    private func expectPort(_ port: UInt16, _ description: OAuthDescription) throws {
        let login = try authorize(description)
        #expect(login.port == port)
    }

    /// Waits until nothing listens on a port. A process that another test starts at this moment has the listener until
    /// its program runs.
    private func waitUntilClosed(_ port: UInt16) async throws {
        try await poll {
            do {
                _ = try RawClient(port: port)
                return false
            } catch is SystemError {
                return true
            }
        }
    }

    @Test func `a slow request ends after five seconds`() async throws {
        let login = try authorize()
        let slow = try login.browser()
        slow.send("GET /callback?code=abc&state=")
        _ = try await clock.sleepers.elements(1)
        clock.advance(by: .seconds(4))
        slow.send("x")
        #expect(try await login.answer(to: "GET / HTTP/1.1\r\n\r\n").contains(" 421 "))
        #expect(!slow.received.value.isComplete)
        clock.advance(by: .seconds(1))
        #expect(try await slow.answer().isEmpty)
    }

    @Test func `a head of one megabyte is refused`() async throws {
        let login = try authorize()
        let browser = try login.browser()
        browser.send(login.get("/callback?code=\(String(repeating: "a", count: 1 << 20))"))
        _ = try await browser.answer()
        #expect(try await login.answer(to: login.get("/")).contains(" 404 "))
    }

    @Test func `the port pauses for a second after descriptors run out`() async {
        await #expect(processExitsWith: .success) { @MainActor in
            await recordErrors {
                let clock = ManualClock()
                let login = Authorization(
                    .sample, clientID: "app", redirects: RedirectListeners(clock: clock))
                // The thread that waits for descriptors has its own already, and would crash without them.
                let first = try login.browser()
                first.send(login.get("/"))
                _ = try await first.answer()
                let browser = try login.browser(following: "code=abc")
                var limit = rlimit(rlim_cur: 64, rlim_max: 64)
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                var fillers: [Int32] = []
                while case let filler = dup(0), filler >= 0 { fillers.append(filler) }
                try await clock.sleepers.wait {
                    $0.contains(.init(offset: .seconds(1))) ? true : nil
                }
                for filler in fillers { close(filler) }
                clock.advance(by: .seconds(1))
                guard try await login.code().text == "abc" else { exit(1) }
                login.finish(.loggedIn)
                guard try await browser.answer().contains("You are logged in") else { exit(2) }
            }
        }
    }

    @Test func `the longest reason arrives completely`() async throws {
        let login = try authorize()
        let browser = try login.browser(following: "code=abc")
        _ = try await login.code()
        login.finish(.failed(String(repeating: "\"\u{10348}\u{301}\u{302}", count: 1000)))
        let page = try await browser.answer()
        #expect(page.hasSuffix("</html>\n"))
        #expect(page.utf8.count < 8 << 10)
    }

    @Test func `a request may arrive byte by byte`() async throws {
        let login = try authorize()
        let browser = try login.browser()
        for character in login.redirect("code=abc").unicodeScalars {
            browser.send(String(character))
            await Task.yield()
        }
        #expect(try await login.code().text == "abc")
    }

    @Test func `a browser that waits too long gets a page that names the desktop`() async throws {
        let login = try authorize()
        let browser = try login.browser(following: "code=abc")
        _ = try await login.code()
        try await clock.sleepers.wait { $0.contains(.init(offset: .seconds(30))) ? true : nil }
        clock.advance(by: .seconds(30))
        #expect(try await browser.answer().contains("Your desktop shows the result."))
        login.finish(.loggedIn)
        #expect(try await login.answer(to: login.redirect("code=abc")).contains("logged in"))
    }

    @Test func `a browser that disconnects does not end the login`() async throws {
        let login = try authorize()
        let browser = try login.browser(following: "code=abc")
        browser.close()
        #expect(try await login.code().text == "abc")
        login.finish(.loggedIn)
        #expect(try await login.answer(to: login.redirect("code=abc")).contains("logged in"))
    }

    @Test func `idle connections do not block a redirect`() async throws {
        let login = try authorize()
        var idle: [RawClient] = []
        for count in 1...40 {
            idle.append(try login.browser())
            _ = try await clock.sleepers.elements(count)
        }
        let browser = try login.browser(following: "code=abc")
        #expect(try await login.code().text == "abc")
        login.finish(.loggedIn)
        #expect(try await browser.answer().contains("You are logged in"))
        // The first connections were closed.
        #expect(try await idle[0].answer().isEmpty)
    }

    @Test func `the release of a login answers the waiting browser`() async throws {
        var login: Authorization? = try authorize()
        let browser = try #require(try login?.browser())
        browser.send(try #require(login?.redirect("code=abc")))
        _ = try await login?.code()
        login = nil
        #expect(try await browser.answer().contains("Almost done"))
    }

    @Test func `waiting for the code can be cancelled and repeated`() async throws {
        let login = try authorize()
        let waiting = Task { try await login.code() }
        await Task.yield()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { _ = try await waiting.value }
        try login.submit("abc")
        #expect(try await login.code().text == "abc")
    }
}

/// Requests that are no redirect, by the status of the response and the reason.
private let hostileRequests: [String: @MainActor @Sendable (Authorization) -> String] = [
    "400 for no state": { $0.get("/callback?code=evil") },
    "400 for an empty state": { $0.get("/callback?code=evil&state=") },
    "400 for a wrong state": { $0.get("/callback?code=evil&state=AAAAAAAAAAAAAAAAAAAAAA") },
    "400 for an error with a wrong state": { $0.get("/callback?error=access_denied&state=wrong") },
    "400 for an error without state": { $0.get("/callback?error=access_denied") },
    "400 for two codes": { $0.redirect("code=evil&code=worse") },
    "400 for two states": { $0.redirect("code=evil&state=other") },
    "400 for code and error": { $0.redirect("code=evil&error=access_denied") },
    "400 for neither code nor error": { $0.redirect("hello=world") },
    "400 for an empty code": { $0.redirect("code=") },
    "400 for a code with a line break": { $0.redirect("code=a%0d%0ab") },
    "400 for a bad escape": { $0.redirect("code=%zz") },
    "400 for no UTF-8": { $0.redirect("code=%ff") },
    "404 for the icon": { $0.get("/favicon.ico") },
    "404 for another path": { $0.redirect("code=evil").replacing("/callback", with: "/") },
    "404 for a longer path": {
        $0.redirect("code=evil").replacing("/callback", with: "/callback/")
    },
    "405 for HEAD": { $0.redirect("code=evil").replacing("GET", with: "HEAD") },
    "405 for POST": {
        $0.redirect("code=evil", headers: "Origin: https://evil.example", "Content-Length: 3")
            .replacing("GET", with: "POST") + "a=b"
    },
    "405 for OPTIONS": { $0.redirect("code=evil").replacing("GET", with: "OPTIONS") },
    "503 for a prefetch": { $0.redirect("code=evil", headers: "Sec-Purpose: prefetch") },
    "503 for a prerendering": {
        $0.redirect("code=evil", headers: "sec-purpose: prefetch;prerender")
    },
    "503 for an older prefetch": { $0.redirect("code=evil", headers: "Purpose: prefetch") },
    "503 for a picture of another page": {
        $0.redirect("code=evil", headers: "Sec-Fetch-Dest: image")
    },
    "421 for another host": { $0.redirect("code=evil", host: "evil.example") },
    "421 for localhost": { $0.redirect("code=evil", host: "localhost:\($0.port ?? 0)") },
    "421 for no port": { $0.redirect("code=evil", host: "127.0.0.1") },
    "421 for two hosts": { $0.redirect("code=evil", headers: "Host: 127.0.0.1") },
    "421 for no host": { _ in "GET /callback HTTP/1.1\r\n\r\n" },
    "400 for no HTTP": { _ in "hello\r\n\r\n" },
    "400 for TLS": { _ in "\u{16}\u{3}\u{1}\0\r\n\r\n" },
    "400 for a proxy's request": { login in
        login.redirect("code=evil").replacing("GET /", with: "GET http://127.0.0.1/")
    },
    "400 for a folded header": { $0.redirect("code=evil", headers: "A: b", " c") },
    "431 for a head of 17 KiB": {
        $0.redirect("code=evil", headers: "A: \(String(repeating: "a", count: 17 << 10))")
    },
]

extension Authorization {
    var port: UInt16? {
        request.redirectAddress.split(separator: ":").last.flatMap {
            UInt16($0.prefix { $0 != "/" })
        }
    }

    func browser() throws -> RawClient { try RawClient(port: try #require(port)) }

    /// Returns a browser that follows a redirect with the state of this login.
    func browser(following query: String) throws -> RawClient {
        let browser = try browser()
        browser.send(redirect(query))
        return browser
    }

    /// Returns the request of a redirect with the state of this login.
    func redirect(_ query: String, host: String? = nil, headers: String...) -> String {
        let state = request.state.withText { $0 }
        return get("/callback?\(query)&state=\(state)", host: host, headers: headers)
    }

    func get(_ target: String, host: String? = nil, headers: [String] = []) -> String {
        let lines = ["GET \(target) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port ?? 0)")"]
        return (lines + headers + ["", ""]).joined(separator: "\r\n")
    }

    func answer(to request: String) async throws -> String {
        let browser = try browser()
        browser.send(request)
        return try await browser.answer()
    }
}
