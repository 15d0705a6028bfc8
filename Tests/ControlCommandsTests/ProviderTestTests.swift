import Foundation
import TestSupport
import Testing

/// `imagefeedctl provider test` with the built programs.
@Suite(.timeLimit(.minutes(10))) @MainActor struct ProviderTestTests {
    @Test func `a plugin that keeps to the rules passes`() async throws {
        let folder = try PluginFolder()
        try folder.write()
        let report = try await folder.test("odd", ["--username", "ada"], status: 0)
        #expect(report.result == "passed")
        #expect(report.checks("failed", "warning", "skipped").map(\.findings) == [])
        let names = report.checks.map(\.name)
        for name in [
            "Manifest", "Sandbox", "initialize", "identify", "sources", "page, source home",
            "Photos as shown", "photo", "Images", "Unknown photo", "Unknown place",
            "Two calls at a time", "Restart", "Requests on the web",
            "Limits", "End",
        ] { #expect(names.contains(name)) }
        #expect(try Set(report.checks.map(\.section)).isSubset(of: PluginFolder.headings()))
    }

    @Test func `a long title is not a fault`() async throws {
        let folder = try PluginFolder()
        try folder.write(
            opening: """
                def photo(id):
                    return {"id": str(id), "title": "x" * 300, "images": {"full": link("photo.jpg")}}
                """)
        let report = try await folder.test("odd", ["--username", "ada"], status: 0)
        #expect(report.checks("failed", "warning").map(\.findings) == [])
    }

    @Test func `the example in Python passes`() async throws {
        let folder = try PluginFolder { request in
            guard request.target == "/feed.xml" else { return PluginFolder.image }
            return LoopbackResponse(
                text: """
                    <rss version="2.0"><channel><title>Ada</title><item><title>Fog</title>
                    <guid>one</guid><enclosure url="\(request.origin)/1.png" type="image/png"
                    length="1"/></item></channel></rss>
                    """)
        }
        try folder.writeExample("rss", script: "rss.py")
        let report = try await folder.test(
            "rss", ["--username", "\(folder.server.origin)/feed.xml"], status: 0)
        #expect(report.checks("failed", "warning").map(\.findings) == [])
    }

    @Test func `the first example of the manual is a file, and passes`() async throws {
        let page = try Control.file("man/imagefeed-providers.7")
        for file in ["shelf.provider", "shelf.py"] {
            let text = try Control.file("dist/examples/shelf/\(file)")
                .replacing("-", with: "\\-").replacing("'", with: "\\(aq")
                .replacing("^", with: "\\(ha")
            #expect(page.contains(".Bd -literal\n\(text).Ed\n"), "\(file)")
        }
        let folder = try PluginFolder { request in
            request.target == "/"
                ? LoopbackResponse(text: "<a href=\"a.jpg\">") : PluginFolder.image
        }
        try folder.writeExample("shelf", script: "shelf.py")
        let path = folder.directory.appending("plugins/shelf/shelf.py")
        let script = try String(contentsOfFile: path, encoding: .utf8)
        try folder.directory.write(
            script.replacing("http://127.0.0.1:8791", with: folder.server.origin),
            to: "plugins/shelf/shelf.py")
        let report = try await folder.test("shelf", ["--username", "me"], status: 0)
        #expect(report.checks("failed", "warning").map(\.findings) == [])
    }

    @Test func `the example in Python names the reason if an address has no https`() async throws {
        let folder = try PluginFolder()
        try folder.writeExample("rss", script: "rss.py")
        let report = try await folder.test(
            "rss", ["--username", "http://photos.example/feed.xml"], status: 1)
        let failures = report.checks("failed")
        #expect(failures.map(\.name) == ["identify"])
        let finding = try #require(failures.first?.findings.first)
        #expect(finding.contains("begins with https://"))
        #expect(!finding.contains("Hosts"))
    }

    @Test func `the plugin for albums of iCloud passes`() async throws {
        let folder = try PluginFolder { request in
            let path = request.target.split(separator: "/").map(String.init)
            return switch (path.first, path.last) {
            case ("p183-sharedstreams.icloud.com", "webstream"):
                LoopbackResponse(330, json: #"{"X-Apple-MMe-Host":"p99-sharedstreams.icloud.com"}"#)
            case ("p99-sharedstreams.icloud.com", let method?):
                LoopbackResponse(
                    json: PluginFolder.answer("icloud_album", method)
                        .replacing(
                            #""scheme": "https", "hosts": ["cvws.icloud-content.com"]"#,
                            with: #""scheme": "http", "hosts": ["\#(request.origin.dropFirst(7))"]"#
                        ))
            case ("S", _): PluginFolder.image
            default: LoopbackResponse(404, json: "{}")
            }
        }
        try folder.writeExample("icloud_album", script: "icloud_album/icloud_album.py")
        let report = try await folder.test(
            "icloud_album",
            [
                "--set", "ApiUrl=\(folder.server.origin)", "--username",
                "https://www.icloud.com/sharedalbum/#B2x0ABCDEFGHIJK",
            ], status: 0)
        #expect(report.checks("failed", "warning", "skipped").map(\.findings) == [])
        #expect(report.checks.contains { $0.name == "identify" && $0.note == "B2x0ABCDEFGHIJK" })
        #expect(report.checks.contains { $0.note == "1 page, 2 photos" })
    }

    @Test
    func `the plugin for PhotoPrism passes, and a wrong password is not its fault`() async throws {
        let folder = try PluginFolder { request in
            if request.target.hasPrefix("/api/v1/t/") || request.target.hasPrefix("/api/v1/dl/") {
                return PluginFolder.image
            }
            guard request.headers.contains(where: { $0.value == "Bearer KEY" }) else {
                return LoopbackResponse(401, json: "{}")
            }
            let parts = request.target.split(separator: "?", maxSplits: 1).map(String.init)
            let query = parts.count > 1 ? parts[1] : ""
            let isUnknown = request.target.contains("unknown")
            return switch (request.method, parts[0]) {
            case ("GET", "/api/v1/photos") where isUnknown: LoopbackResponse(400, json: "{}")
            case ("GET", "/api/v1/photos") where query.contains("favorite=true"):
                LoopbackResponse(json: "[\(PluginFolder.favorite)]")
            case ("GET", let path) where path.hasPrefix("/api/v1/"):
                LoopbackResponse(json: PluginFolder.answer("photoprism", String(path.dropFirst(8))))
            case (_, let path) where path.hasSuffix("/like") && !isUnknown:
                LoopbackResponse(json: "{}")
            default: LoopbackResponse(404, json: "{}")
            }
        }
        try folder.writeExample("photoprism", script: "photoprism/photoprism.py")
        let arguments = ["--server", folder.server.origin, "--password-file", "-"]
        let report = try await folder.test("photoprism", arguments, input: "KEY\n", status: 0)
        #expect(report.checks("failed", "warning", "skipped").map(\.findings) == [])
        #expect(report.checks.contains { $0.name == "identify" && $0.note == "ada" })
        // No request changes a photo: a photo that is liked is liked again, another one is unliked.
        let changes = folder.server.requests.value.filter { $0.method != "GET" }
            .map { "\($0.method) \($0.target)" }
        #expect(changes.filter { !$0.contains("unknown") }.count == 2)
        let other = try await folder.test("photoprism", arguments, input: "WRONG\n", status: 77)
        #expect(other.checks("failed").map(\.findings) == [])
    }

    @Test func `without an account, the report says that calls were not tested`() async throws {
        let folder = try PluginFolder()
        try folder.write()
        let report = try await folder.test("odd", [], status: 0)
        let skipped = try #require(report.checks("skipped").first)
        #expect(skipped.findings.first?.contains("--username") == true)
        #expect(report.checks.contains { $0.name == "End" && $0.result == "passed" })
    }

    @Test func `the login of a plugin is described, and tested with a password`() async throws {
        let folder = try PluginFolder { request in
            let isAuthorized = request.headers.contains { $0.value == "Basic YWRhOnB3" }
            return isAuthorized ? PluginFolder.image : LoopbackResponse(401, text: "")
        }
        try folder.write(
            body: """
                if method == 'describeLogin':
                    server = params["account"]["server"]
                    answer({"name": server, "start_url": server + "/start"}); continue
                """, keys: "LastingPlaces=true", authentication: "Type=polling")
        let server = ["--server", folder.server.origin]
        let report = try await folder.test("odd", server, status: 0)
        #expect(report.checks("failed", "warning").map(\.findings) == [])
        #expect(report.checks.contains { $0.name == "describeLogin" && $0.result == "passed" })
        #expect(report.checks("skipped").map(\.name) == ["Calls for an account"])
        let all = try await folder.test(
            "odd", server + ["--password-file", "-"], input: "YWRhOnB3\n", status: 0)
        #expect(all.checks("failed", "warning", "skipped").map(\.findings) == [])
        let other = try await folder.test("odd", ["--username", "ada"], status: 0)
        #expect(other.checks("skipped").first?.findings.first?.contains("in Base64") == true)
    }

    /// Writes a plugin with a login at a named server.
    ///
    /// - Parameters:
    ///   - folder: The folder of the plugin.
    ///   - scope: The scope that the plugin requests.
    ///   - token: The address of the endpoint of tokens.
    /// - Returns: The arguments that name the server.
    /// - Throws: An error if the files cannot be written.
    private func writeFederated(
        _ folder: PluginFolder, scope: String = "read", token: String? = nil
    ) throws -> [String] {
        let base = folder.server.origin
        try folder.write(
            body: """
                if method == 'discover':
                    answer({"name": params["account"]["server"], "scopes": ["\(scope)"],
                        "authorization_url": "\(base)/authorize", "token_url": "\(token ?? "\(base)/token")",
                        "registration": {"url": "\(base)/apps", "fields": {}, "redirect_field": "uri"}})
                    continue
                """, keys: "LastingPlaces=true", authentication: "Type=federated\nScopes=read;")
        return ["--set", "LoopbackServers=photos.test=\(base)", "--server", "photos.test"]
    }

    @Test func `the login at a named server is tested, and its calls with a token`() async throws {
        let folder = try PluginFolder { request in
            let isAuthorized = request.headers.contains { $0.value == "Bearer secret" }
            return isAuthorized ? PluginFolder.image : LoopbackResponse(401, text: "")
        }
        let server = try writeFederated(folder)
        let report = try await folder.test("odd", server, status: 0)
        #expect(report.checks("failed", "warning").map(\.findings) == [])
        #expect(report.checks.contains { $0.name == "discover" && $0.result == "passed" })
        #expect(report.checks("skipped").map(\.name) == ["Calls for an account"])
        let all = try await folder.test(
            "odd", server + ["--password-file", "-"], input: "secret\n", status: 0)
        #expect(all.checks("failed", "warning", "skipped").map(\.findings) == [])
    }

    @Test(arguments: [
        ("write", nil, "the scope write is not in Scopes of the manifest"),
        ("read", "https://evil.test/token", "the only origin that may receive secrets"),
    ])
    func `an invalid description of the login at a server is a failure`(
        _ scope: String, _ token: String?, _ text: String
    ) async throws {
        let folder = try PluginFolder { _ in PluginFolder.image }
        let report = try await folder.test(
            "odd", writeFederated(folder, scope: scope, token: token), status: 1)
        let failed = report.checks("failed")
        #expect(failed.map(\.name) == ["discover"])
        #expect(failed.first?.findings.first?.contains(text) == true, "\(failed)")
    }

    /// The fault of a plugin.
    struct Fault {
        /// A part of the finding of a fault that is a failure.
        var failure: String?
        /// A part of the finding of one that is a warning.
        var warning: String?
        var opening = ""
        /// The results of calls in Python, by their methods.
        var answers: [String: String] = [:]
        /// The photos of each page in Python.
        var photos: String?
        var body = ""
        var ending = ""
        var keys = ""
        var capabilities = "feed;"
        var sources = "home;"

        /// The statements of the plugin before a call is answered.
        var statements: String {
            let page = photos.map { ["page": "{'photos': [\($0)]}"] } ?? [:]
            let results = answers.merging(page) { $1 }.map { method, result in
                "if method == '\(method)': answer(\(result)); continue"
            }
            return (results + [body, "pass"]).joined(separator: "\n")
        }
    }

    /// The faults, by the section of the manual page that has the rule.
    nonisolated static let faults: KeyValuePairs<String, KeyValuePairs<String, Fault>> = [
        "THE PROTOCOL": [
            "output that is not JSON": Fault(
                failure: "hello",
                body: "if method == 'page': print('hello', flush=True); continue"),
            "an exit at the start": Fault(failure: "status 3", opening: "sys.exit(3)"),
            "a second call that fails": Fault(
                failure: "refused the call", opening: "counter = 0",
                body: """
                    if method == 'sources':
                        counter += 1
                        if counter == 2: refuse('failed'); continue
                    """),
            "a call that is answered twice": Fault(
                failure: "the result of an unknown call",
                body: "if method == 'identify': answer({'username': 'ada'})"),
            "an end after an answer": Fault(
                failure: "status 1",
                body: "if method == 'photo': answer(photo(params['photo'])); sys.exit(1)"),
            "a last line on standard error": Fault(
                failure: "status 1",
                body: "if method == 'page': print('last words', file=sys.stderr); sys.exit(1)"),
        ],
        "Calls of the daemon": [
            "pages without an end": Fault(
                failure: "occurs twice", opening: "counter = 100",
                body: """
                    if method == 'page':
                        counter += 1
                        answer({"photos": [photo(counter)], "next": "2"}); continue
                    """),
            "a photo on two pages": Fault(
                failure: "on two pages",
                body:
                    "if method == 'page' and place == '2': answer({'photos': [photo(10)]}); continue"
            ),
            "a page with too many photos": Fault(
                failure: "501",
                body: """
                    if method == 'page' and place == '1':
                        answer({"photos": [photo(index) for index in range(501)]}); continue
                    """),
            "a user ID with a blank": Fault(
                failure: "user_id", answers: ["identify": "{'username': 'ada', 'user_id': 'a b'}"]),
            "a user ID of a profile with a blank": Fault(
                failure: "profile.user_id",
                answers: ["profile": "{'username': 'ada', 'user_id': 'a b'}"],
                capabilities: "feed;profile;"),
            "a call that is cancelled without a request": Fault(
                failure: "was cancelled",
                body: "if method == 'profile': refuse('cancelled'); continue",
                capabilities: "feed;profile;"),
            "an avatar at another host": Fault(
                failure: "profile.avatar_url",
                answers: ["profile": "{'username': 'ada', 'avatar_url': 'https://example.org/a'}"],
                capabilities: "feed;profile;"),
            "a relative address of an avatar": Fault(
                failure: "profile.avatar_url is not an absolute address",
                answers: ["profile": "{'username': 'ada', 'avatar_url': '/a'}"],
                capabilities: "feed;profile;"),
            "a call that is refused as not supported":
                Fault(failure: "does not support the call", capabilities: "feed;profile;"),
            "a call that is refused": Fault(
                failure: "refused the call",
                body: "if method == 'profile': refuse('failed'); continue",
                capabilities: "feed;profile;"),
            "a source that is listed twice": Fault(
                failure: "listed twice", answers: ["sources": "{'sources': [source('home')] * 2}"]),
            "a source that the manifest does not name": Fault(
                warning: "“b” matches no entry",
                answers: ["sources": "{'sources': [source('home'), source('b')]}"]),
            "a default source that is not listed":
                Fault(warning: "DefaultSource", answers: ["sources": "{'sources': []}"]),
            "likes that are not listed": Fault(
                warning: "“likes” is not listed", answers: ["setLiked": "{}"],
                capabilities: "feed;like;", sources: "home;likes;"),
            "a page that is not an object":
                Fault(failure: "not an object", answers: ["page": "[]"]),
            "another photo than the requested one":
                Fault(failure: "another photo", answers: ["photo": "photo(99)"]),
            "the oldest photo first": Fault(
                warning: "oldest photo",
                photos: "{**photo(id), 'created': 1700000000 + id} for id in range(3)"),
            "a photo that differs from its page": Fault(
                warning: "differ in title",
                body: """
                    if method == 'photo' and params['photo'].isdigit():
                        answer({**photo(params['photo']), 'title': 'Other'}); continue
                    """),
            "a request for each photo": Fault(
                warning: "took 6 requests",
                body: """
                    if method == 'page':
                        for id in range(6): ask({"url": link("photo.jpg")})
                        answer({"photos": [photo(id) for id in range(6)]}); continue
                    """),
            "likes without their call": Fault(
                failure: "does not support the call",
                answers: ["sources": "{'sources': [source('home'), source('likes', 'likes')]}"],
                capabilities: "feed;like;", sources: "home;likes;"),
            "a repeated unlike that fails": Fault(
                failure: "A repeated unlike fails",
                answers: ["sources": "{'sources': [source('home'), source('likes', 'likes')]}"],
                body: """
                    if method == 'setLiked':
                        refuse('not-found' if params['photo'] == 'imagefeed-provider-test-unknown' else 'refused'); continue
                    if method == 'page' and params['source'] == 'home':
                        answer({"photos": [{**photo(10), "liked": False}]}); continue
                    """,
                capabilities: "feed;like;", sources: "home;likes;"),
            "pages of new photos without an end": Fault(
                warning: "do not end after 20 pages",
                body: """
                    if method == 'page' and place.isdigit():
                        answer({"photos": [photo(int(place))], "next": str(int(place) + 1)}); continue
                    """),
            "a page without photos that is not the last one": Fault(
                warning: "A page without photos",
                answers: [
                    "page":
                        "{'photos': [photo(10)] if place == '1' else [], 'next': '2' if place == '1' else '3' if place == '2' else None}"
                ]),
        ],
        "Calls and notifications of the program": [
            "a host that is not in the manifest": Fault(
                failure: "https://example.org/feed",
                body:
                    "if method == 'page' and place == '1': ask({'url': 'https://example.org/feed'})"
            ),
            "an unknown notification": Fault(
                warning: "“hello”",
                body: "if method == 'page': write({'method': 'hello', 'params': {}})"),
        ],
        "LIMITS": [
            "a message that is too long": Fault(
                failure: "The plugin failed",
                answers: ["page": "{'photos': [], 'pad': 'x' * (9 << 20)}"]),
            "a process that does not end":
                Fault(failure: "killed", ending: "while True: time.sleep(60)"),
            "a message of more than half of the limit": Fault(
                warning: "A message has",
                answers: ["identify": "{'username': 'ada', 'pad': 'x' * (5 << 20)}"]),
        ],
        "Photos": [
            "a text with control characters":
                Fault(warning: "“title”", photos: "{**photo(10), 'title': 'a\\u0007b'}"),
            "an image at another host": Fault(
                failure: "https://example.org",
                answers: ["image": "{'url': 'https://example.org/1'}"],
                photos: "{'id': '10', 'images': {'full': 'https://example.org/1'}}"),
            "an image that is not an image":
                Fault(failure: "not an image", photos: "photo(10, 'text')"),
            "a relative address of an image": Fault(
                failure: "image.url is not an absolute address",
                answers: ["image": "{'url': '/1'}"], photos: "{'id': '10'}"),
            "a photo without an ID": Fault(failure: "page.photos[0].id", photos: "{'title': 'a'}"),
            "a photo that is on one page twice":
                Fault(warning: "several times", photos: "photo(10), photo(10)"),
            "a member that is unknown":
                Fault(warning: "“odd” is unknown", photos: "{**photo(10), 'odd': 1}"),
            "a color that is not valid":
                Fault(warning: "“color” is not valid", photos: "{**photo(10), 'color': 'red'}"),
            "an image of an unknown size": Fault(
                failure: "images.huge",
                photos:
                    "{**photo(10), 'images': {'full': link('photo.jpg'), 'huge': link('photo.jpg')}}"
            ),
            "entries of some photos only": Fault(
                warning: "Only some photos", photos: "{**photo(10), 'entry': 'b'}, photo(11)"),
            "entries in ascending order": Fault(
                failure: "follows the lower entry",
                answers: [
                    "page":
                        "{'photos': [{**photo(10), 'entry': 'a'}, {**photo(11), 'entry': 'b'}], 'end': 'a'}"
                ]),
            "a photo without an image": Fault(
                failure: "Neither the photo", answers: ["image": "{}"], photos: "{'id': '10'}"),
            "an image that is missing":
                Fault(failure: "returned status 404", photos: "photo(10, 'missing')"),
            "an image that is a page of HTML":
                Fault(failure: "HTML page", photos: "photo(10, 'page')"),
            "a photo among the likes that is not liked": Fault(
                failure: "“liked” is false",
                answers: [
                    "sources": "{'sources': [source('home'), source('likes', 'likes')]}",
                    "setLiked": "{}",
                ],
                body: """
                    if method == 'page' and params['source'] == 'likes':
                        answer({"photos": [{**photo(10), "liked": False}]}); continue
                    """,
                capabilities: "feed;like;", sources: "home;likes;"),
            "a title with HTML": Fault(
                warning: "“title” contains HTML", photos: "{**photo(10), 'title': '<b>Fog</b>'}"),
            "a title with a character reference": Fault(
                warning: "“title” contains HTML",
                photos: "{**photo(10), 'title': 'Fog &amp; rain'}"),
            "a text of more than 5000 characters": Fault(
                warning: "“text” has more than 5000 characters",
                photos: "{**photo(10), 'text': 'x' * 5001}"),
            "a full image that is missing": Fault(
                failure: "missing returned status 404",
                photos:
                    "{'id': '10', 'images': {'thumb': link('photo.jpg'), 'full': link('missing')}}"),
            "a full image that is no image": Fault(
                failure: "text is not an image",
                photos: "{'id': '10', 'images': {'thumb': link('photo.jpg'), 'full': link('text')}}"
            ),
            "another media type than that of the image": Fault(
                warning: "“media_type” is image/png",
                photos: "{**photo(10), 'media_type': 'image/png'}"),
        ],
        "Errors": [
            "an unknown photo that is a failure": Fault(
                failure: "not-found",
                body:
                    "if method == 'photo' and not params['photo'].isdigit(): refuse('failed'); continue"
            ),
            "an unknown photo that is an invalid argument": Fault(
                warning: "not-found",
                body:
                    "if method == 'photo' and not params['photo'].isdigit(): refuse('invalid-argument'); continue"
            ),
            "an unknown photo with a result":
                Fault(warning: "returned a result", answers: ["photo": "photo(params['photo'])"]),
            "an unknown source with a result":
                Fault(warning: "returned a result", sources: "home;album:*;"),
            "an unknown source that is a failure": Fault(
                failure: "not-found",
                body:
                    "if method == 'page' and params['source'] != 'home': refuse('failed'); continue",
                sources: "home;album:*;"),
            "an unknown place that is a failure": Fault(
                failure: "stale-cursor",
                body: "if method == 'page' and not place.isdigit(): refuse('failed'); continue"),
        ],
        "TESTING": [
            "other IDs after a restart": Fault(
                failure: "other IDs", opening: "number = int.from_bytes(os.urandom(6))",
                photos: "photo(number)"),
            "a place that is stale after a restart": Fault(
                warning: "is stale", opening: "number = os.urandom(4).hex()",
                body: """
                    if method == 'page':
                        run, _, page = place.rpartition('-')
                        if place != '1' and run != number: refuse('stale-cursor'); continue
                        page = int(page)
                        answer({"photos": [photo(page)], "next": f"{number}-{page + 1}" if page < 3 else None}); continue
                    """),
            "other photos at a place after a restart": Fault(
                failure: "leads to other photos", opening: "other = int.from_bytes(os.urandom(6))",
                body:
                    "if method == 'page' and place == '2': answer({'photos': [photo(other)]}); continue"
            ),
            "a place that is known to one process": Fault(
                failure: "refused the call", opening: "places = set()",
                body: """
                    if method == 'page':
                        if place != '1' and place not in places: refuse('not-found'); continue
                        places.add('2')
                        answer({"photos": [photo(10 if place == '1' else 20)], "next": '2' if place == '1' else None}); continue
                    """),
        ],
        "The group Provider": [
            "places that do not last": Fault(
                failure: "same photos again", opening: "counter = 1000",
                body: """
                    if method == 'page' and place == '2':
                        counter += 1
                        answer({"photos": [photo(counter)]}); continue
                    """,
                keys: "LastingPlaces=true"),
            "a search that fails": Fault(
                failure: "refused the call",
                body:
                    "if method == 'page' and params['source'] != 'home': refuse('failed'); continue",
                capabilities: "feed;search;", sources: "home;search:*;"),
            "words of a search that are not encoded": Fault(
                failure: "not encoded",
                body: """
                    if method == 'page' and params['source'] != 'home':
                        words = params["source"][7:].replace(" ", "%20").replace("#", "%23")
                        ask({"url": link("search?q=" + words)})
                    """,
                capabilities: "feed;search;", sources: "home;search:*;"),
        ],
    ]

    @Test(arguments: faults.flatMap { section, faults in faults.map { (section, $0.0, $0.1) } })
    func `a fault names its section`(section: String, name: String, fault: Fault) async throws {
        let folder = try PluginFolder()
        try folder.write(
            opening: fault.opening, body: fault.statements, ending: fault.ending, keys: fault.keys,
            capabilities: fault.capabilities, sources: fault.sources)
        let text = try #require(fault.failure ?? fault.warning)
        let report = try await folder.test(
            "odd", ["--username", "ada"], status: fault.failure == nil ? 0 : 1)
        let found = report.checks(fault.failure == nil ? "warning" : "failed")
        #expect(
            found.contains { $0.section == section && $0.findings.contains { $0.contains(text) } },
            "\(found)")
        #expect(try Set(report.checks.map(\.section)).isSubset(of: PluginFolder.headings()))
    }

    @Test func `of equal settings, the last one applies`() async throws {
        let folder = try PluginFolder()
        try folder.write(
            body:
                "if method == 'initialize' and params['settings']['Flavour'] != 'a=b': sys.exit(1)")
        _ = try await folder.test(
            "odd", ["--set", "Flavour=", "--set", "Flavour=a=b", "--username", "ada"], status: 0)
    }

    @Test func `all problems of a manifest are found, with their lines`() async throws {
        let folder = try PluginFolder()
        try folder.write(keys: "Sourses=all;\nLastingPlaces=maybe")
        let report = try await folder.test("odd", [], status: 1)
        let check = try #require(report.checks("failed").first)
        #expect(report.checks.count == 1)
        #expect((check.section, check.findings.count) == ("THE MANIFEST", 2))
        #expect(check.findings[0].hasPrefix("Line 9: Sourses"))
        #expect(check.findings[1].hasPrefix("Line 10: LastingPlaces"))
    }

    @Test func `a manifest in the current folder is found by its name alone`() async throws {
        let folder = try PluginFolder()
        try folder.write()
        let plugins = folder.directory.appending("plugins")
        let command = "provider test --set AllowLoopback=true --username ada odd.provider"
        try await ChildProcess(
            "/bin/sh", ["-c", "cd '\(plugins)' && exec '\(Control.path)' \(command)"],
            environment: folder.directory.environment
        ).result(status: 0)
    }

    @Test func `the messages are printed on standard error if they are requested`() async throws {
        let folder = try PluginFolder()
        try folder.write(opening: "print('here I am', file=sys.stderr, flush=True)")
        let arguments = ["--username", "ada"]
        let result = try await folder.start(["--verbose"] + arguments, of: "odd").result(status: 0)
        for line in [
            #"→ {"jsonrpc":"2.0","id":1,"method":"initialize""#,
            #"← {"jsonrpc": "2.0", "id": 1, "result": {"protocol": 1}}"#, "! here I am",
        ] { #expect(result.error.contains(line)) }
        #expect(!result.output.contains("jsonrpc"))
        let other = try await folder.start(arguments, of: "odd").result()
        #expect(!other.error.contains("jsonrpc"))
    }

    @Test func `a call that takes too long is found`() async throws {
        let folder = try PluginFolder()
        try folder.write(body: "if method == 'page': time.sleep(60)")
        let result = try await ChildProcess(
            BuiltProducts.path("imagefeed-provider-test"),
            [
                // The other calls take less, also on a slow machine.
                #"{"manifest":"\#(folder.manifest("odd"))","username":"ada","time_limit":10,"settings":{"AllowLoopback":"true"}}"#
            ], environment: folder.directory.environment
        ).result(status: 1)
        let line = result.output.split(separator: "\n").first { $0.contains("page, source home") }
        #expect(line?.contains(#""section":"LIMITS""#) == true)
        #expect(line?.contains(#""result":"failed""#) == true)
        try await folder.waitForEnd()
    }

    @Test func `a service that fails is not a fault of the plugin`() async throws {
        let folder = try PluginFolder { _ in LoopbackResponse(503, json: "{}") }
        try folder.write(
            body: """
                if method in ('page', 'photo'):
                    ask({"url": "\(folder.server.origin)/list"})
                    refuse('failed'); continue
                """)
        let report = try await folder.test("odd", ["--username", "ada"], status: 75)
        #expect(report.checks("failed").map(\.findings) == [])
        let finding = report.checks("skipped").flatMap(\.findings).first
        #expect(finding == "The service cannot be used now: it sent status 503.")
    }

    @Test func `a service that refuses the key is not a fault of the plugin`() async throws {
        let folder = try PluginFolder()
        try folder.write(body: "if method in ('page', 'photo'): refuse('unauthorized'); continue")
        let report = try await folder.test("odd", ["--username", "ada"], status: 77)
        #expect(report.checks("failed").map(\.findings) == [])
    }

    @Test func `the sandbox of a test can be chosen`() async throws {
        let folder = try PluginFolder()
        try folder.write()
        let report = try await folder.test(
            "odd", ["--username", "ada", "--sandbox", "landlock"], status: nil)
        let check = try #require(report.checks.first { $0.name == "Sandbox" })
        if report.exit == 69 {
            #expect(check.findings == ["The sandbox landlock is not available on this computer."])
        } else {
            #expect(report.exit == 0)
            #expect(check.note == "landlock")
        }
    }

    @Test func `a test ends with its reader`() async throws {
        let folder = try PluginFolder()
        try folder.write(body: "if method == 'page': time.sleep(60)")
        let control = try folder.start(["--username", "ada"], of: "odd")
        try await control.standardOutput.wait { $0.text.contains("sources") ? true : nil }
        #expect(try folder.processes().count > 1)
        control.kill(9)
        _ = try await control.exitStatus()
        try await folder.waitForEnd()
    }

    @Test(arguments: [
        ["provider", "test"], ["provider", "test", "--set", "x", "a"], ["provider", "try"],
        ["provider", "test", "--sandbox", "none", "a"],
    ])
    func `wrong arguments are a usage error`(arguments: [String]) async throws {
        try await ChildProcess(
            Control.path, arguments, environment: TemporaryDirectory().environment
        ).result(status: 64)
    }
}

/// `imagefeedctl provider test` in a terminal.
@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor struct ProviderTestScreenTests {
    @Test func `a report fits on 80 columns`() async throws {
        let folder = try PluginFolder()
        try folder.write(
            opening: "print('a long line on standard error ' * 5, file=sys.stderr, flush=True)",
            body: "if method == 'photo': refuse('failed'); continue")
        let screen = try await Terminal(
            "\"$CTL\" provider test --set AllowLoopback=true --username ada \(folder.manifest("odd"))"
        ).screen(status: 1)
        let plain = screen.replacing(/\u{1B}\[[0-9;]*m/, with: "")
        for line in plain.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        #expect(plain.contains("Odd photos (odd)"))
        #expect(plain.contains("failed   Unknown photo"))
        #expect(plain.contains("imagefeed-providers(7)"))
    }
}
