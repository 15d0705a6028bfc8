import JSONFormat
import PluginHosting
import PluginProtocol
import ProviderKit
import TestSupport
import Testing

/// The messages on the pipes between daemon and plugin.
struct WireTests {
    private static let hosts = AllowedHosts(
        patterns: [AllowedHosts.Pattern("example.org"), AllowedHosts.Pattern("*.cdn.test")]
            .compactMap { $0 })

    private func parse(_ text: String) throws -> JSON { try JSON(parsing: Array(text.utf8)) }

    @Test(arguments: [
        (PluginRefusal.Kind.invalidResponse, "The list is damaged.", "The list is damaged."),
        (.invalidResponse, "", "Shelf gave no reason."),
        (.invalidResponse, "a reset", "The request to the service failed: a reset."),
        (
            .unreachable, "It is under maintenance.",
            "The service cannot be reached: It is under maintenance."
        ),
        (.unreachable, "no route", "The service cannot be reached: no route."),
        (.tooLarge, "x", "The service sent a response that is too large; try again later."),
    ])
    func `a refusal as for a failed request has one sentence`(
        _ kind: PluginRefusal.Kind, _ message: String, _ text: String
    ) {
        #expect("\(PluginRefusal(kind, message).error(of: "Shelf"))" == text)
    }

    @Test(arguments: [("1790000000.25", 1_790_000_001), ("1790000000.0", 1_790_000_000)])
    func `the end of a limit may have a fraction`(_ until: String, _ seconds: Int64) throws {
        let data = #"{"kind":"rate-limited","until":\#(until)}"#
        let error = #"{"code":-32000,"message":"No.","data":\#(data)}"#
        let line = #"{"jsonrpc":"2.0","id":1,"error":\#(error)}"#
        #expect(try refusal(in: line.utf8).until == Timestamp(secondsSince1970: seconds))
    }

    private func refusal(in line: some Collection<UInt8>) throws -> PluginRefusal {
        guard case .refusal(1, let refusal) = try PluginMessage(parsing: line) else {
            throw CancellationError()
        }
        return refusal
    }

    private static let harmful =
        "\u{1b}[31mNo\u{202e}\nmore " + String(repeating: "x", count: 7 << 20)

    private func expectMessage(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(text.contains("[31mNo more xxx"), sourceLocation: sourceLocation)
        #expect(
            text.utf8.count <= ServiceText.maximumMessageLength + 100,
            sourceLocation: sourceLocation)
    }

    @Test(arguments: PluginRefusal.Kind.allCases)
    func `the message of a refusal is cleaned and bounded`(_ kind: PluginRefusal.Kind) throws {
        let value: JSON = [
            "jsonrpc": "2.0", "id": 1,
            "error": [
                "code": -32000, "message": .string(Self.harmful),
                "data": ["kind": .string(kind.rawValue)],
            ],
        ]
        let refusal = try refusal(in: value.line.dropLast())
        expectMessage(refusal.message)
        let error = "\(refusal.error(of: "Odd photos"))"
        #expect(error.utf8.count <= ServiceText.maximumMessageLength + 100)
        #expect(ServiceText.line(error) == error)
    }

    @Test func `faults and reasons of a plugin are cleaned and bounded`() throws {
        expectMessage(PluginFault(Self.harmful).description)
        let status = try SessionStatus(
            PluginReader(["state": "failed", "reason": .string(Self.harmful)], "status"))
        guard case .failed(let reason, _) = status else {
            Issue.record("\(status)")
            return
        }
        expectMessage("\(reason)")
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"jsonrpc":"1.0","id":1,"result":1}"#, #"{"jsonrpc":"2.0"}"#,
        #"{"jsonrpc":"2.0","id":[],"result":1}"#, #"{"jsonrpc":"2.0","id":1}"#,
        #"{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"m"}}"#,
        #"{"jsonrpc":"2.0","method":7}"#,
    ])
    func `an invalid message is refused`(_ text: String) {
        #expect(throws: PluginFault.self) { try PluginMessage(parsing: Array(text.utf8)) }
    }

    @Test func `the ID of a message may be a whole number with a fraction of zero`() throws {
        let line = Array(#"{"jsonrpc":"2.0","id":10.0,"result":1}"#.utf8)
        #expect(try PluginMessage(parsing: line) == .answer(id: 10, result: 1))
    }

    @Test(arguments: [
        #"{"jsonrpc":"2.0","result":1}"#,
        #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"No."}}"#,
    ])
    func `an answer without an ID is named as such`(_ text: String) {
        #expect(throws: PluginFault("the id of a message is missing")) {
            try PluginMessage(parsing: Array(text.utf8))
        }
    }

    // MARK: Size

    @Test func `a document may have as many values as the limit, and no more`() throws {
        let element = #"{"a":"[,:{"},"#
        // The array, its elements, and a member of each.
        let text = String(repeating: element, count: 32_767)
        #expect(throws: Never.self) { try parse("[\(text)0]") }
        #expect(throws: JSONSyntaxError.self) { try parse("[\(text)0,0]") }
        #expect(throws: Never.self) {
            try parse(#"["\#(String(repeating: #"\",[{:"#, count: 70_000))"]"#)
        }
    }

    @Test func `a long document that is too deep is refused`() {
        let blanks = String(repeating: " ", count: 70_000)
        let text = String(repeating: "[", count: 33) + String(repeating: "]", count: 33)
        #expect(throws: JSONSyntaxError.self) { try parse(blanks + text) }
    }

    /// Control characters take six bytes in a string.
    @Test(arguments: ["", "x", "a\"b\\c\n", "é😀", "\u{1}", "a\u{1}", "aaaaaaaaa\u{1}", "\u{0}\n"])
    func `a response is preserved`(_ text: String) throws {
        for count in [1, 2, 9, 1000] {
            let body = Array(String(repeating: text, count: count).utf8)
            try expectSame(HTTPResponse(status: 200, headers: ["A": "b"], body: body, url: "u"))
        }
        try expectSame(HTTPResponse(status: 404, body: [0xff, 0, 1], url: ""))
    }

    private func expectSame(_ response: HTTPResponse) throws {
        let line = ResponseLine(response, answering: "x").flatMap { $0 }
        #expect(line.last == UInt8(ascii: "\n"))
        #expect(line.count < 3 * response.body.count + 200)
        guard case .answer("x", let result) = try PluginMessage(parsing: line.dropLast()) else {
            Issue.record("\(String(decoding: line, as: UTF8.self))")
            return
        }
        let read = try HTTPResponse(PluginReader(result, "http"))
        #expect(read.body == response.body)
        #expect(read.status == response.status)
        #expect(read.headers == response.headers)
        #expect(read.url == response.url)
    }

    @Test func `a photo is preserved`() throws {
        let photo = Samples.photo
        let read = try RemotePhoto(PluginReader(photo.json, "photo"), Self.hosts)
        #expect(read == photo)
    }

    @Test(
        arguments: [
            (#""latitude":48.5,"longitude":-2"#, 48.5), (#""latitude":90,"longitude":-180.0"#, 90),
            (#""latitude":90.001,"longitude":0"#, nil), (#""latitude":0,"longitude":180.5"#, nil),
            (#""latitude":1e300,"longitude":0"#, nil), (#""latitude":48.5"#, nil),
            (#""longitude":48.5,"latitude":null"#, nil),
        ] as [(String, Double?)])
    func `a location has two coordinates in range`(_ members: String, _ latitude: Double?) throws {
        let value = try parse(#"{"id":"1",\#(members)}"#)
        let photo = try RemotePhoto(PluginReader(value, "photo"), nil).photo
        #expect(photo.latitude == latitude)
        #expect((photo.longitude == nil) == (latitude == nil))
    }

    @Test func `a coordinate of another type is refused`() throws {
        let value = try parse(#"{"id":"1","latitude":"48","longitude":2}"#)
        #expect(throws: PluginFault("photo.latitude is a string, not a number")) {
            try RemotePhoto(PluginReader(value, "photo"), nil)
        }
    }

    @Test(arguments: ["[0.5,-1]", "[0.5]", "[0.5,-1,0]", #"[0.5,"x",-1]"#, "[0.5,2]"])
    func `a focal point has two numbers from -1 to 1, or is omitted`(_ focus: String) throws {
        let value = try parse(#"{"id":"1","focus":\#(focus)}"#)
        let photo = try RemotePhoto(PluginReader(value, "photo"), nil).photo
        #expect(photo.focus == (focus == "[0.5,-1]" ? FocalPoint(x: 0.5, y: -1) : nil))
    }

    @Test func `a duplicate photo is shown once`() throws {
        let page = try parse(#"{"photos":[{"id":"1","title":"a"},{"id":"2"},{"id":"1"}]}"#)
        let read = try RemotePage(PluginReader(page, "page"), nil)
        #expect(read.photos.map(\.photo.id.text) == ["1", "2"])
        #expect(read.photos.first?.photo.title == "a")
    }

    @Test func `a boosted photo is shown once per entry`() throws {
        let page = try parse(
            #"""
            {"photos": [{"id": "1", "entry": "k9"}, {"id": "1", "entry": "k5"},
                        {"id": "1", "entry": "k5"}], "end": "k3"}
            """#)
        let read = try RemotePage(PluginReader(page, "page"), nil)
        #expect(read.photos.map(\.entry) == ["k9", "k5"])
        #expect(read.end == "k3")
    }

    @Test func `a server is preserved`() throws {
        let server = Samples.server
        let read = try DiscoveredServer(PluginReader(server.json, "discover"))
        #expect(read == server)
        #expect(read.json == server.json)
    }

    @Test func `addresses of other hosts and control characters are removed`() throws {
        let read = try RemotePhoto(
            PluginReader(
                parse(
                    #"""
                    {"id": "1", "title": "a\u001b[31mb\u202e", "color": "red",
                     "url": "javascript:alert(1)", "author_url": "http://127.0.0.1/",
                     "images": {"full": "https://evil.test/", "thumb": "http://example.org/",
                                "small": "https://a.cdn.test/1"}}
                    """#), "photo"), Self.hosts)
        #expect(read.photo.title == "a[31mb")
        #expect(read.photo.color == nil)
        #expect(read.photo.url == nil)
        #expect(read.photo.authorURL == nil)
        #expect(read.images == [.small: "https://a.cdn.test/1"])
        #expect(!read.hasLikeState)
    }

    @Test(arguments: [
        "[]", #"{"photos":1}"#, #"{"photos":[1]}"#, #"{"photos":[{"id":""}]}"#,
        #"{"photos":[{"id":1}]}"#, #"{"photos":[{"id":"a\nb"}]}"#,
        #"{"photos":[],"next":7}"#,
        #"{"photos":[{"id":"1","width":-1}]}"#, #"{"photos":[{"id":"1","width":"wide"}]}"#,
        #"{"photos":[{"id":"1","created":1000000000000000}]}"#,
        #"{"photos":[{"id":"1","liked":"yes"}]}"#, #"{"photos":[{"id":"1","images":[]}]}"#,
        #"{"photos":[],"total":-1}"#, #"{"photos":[{"id":"1","entry":"a b"}]}"#,
        #"{"photos":[],"end":""}"#, "{}", "null",
    ])
    func `an invalid page is refused`(_ text: String) throws {
        let page = try parse(text)
        #expect(throws: PluginFault.self) { try RemotePage(PluginReader(page, "page"), nil) }
    }

    @Test(arguments: [
        ("https://example.org/a", true), ("https://example.org:443/", true),
        ("https://example.org:8443/", false), ("http://example.org/", false),
        ("https://www.example.org/", false), ("https://a.b.cdn.test/", true),
        ("https://cdn.test/", true), ("https://xcdn.test/", false),
        ("https://example.org@evil.test/", false), ("https://127.0.0.1/", false),
    ])
    func `only the hosts of the manifest are permitted`(_ address: String, _ isAllowed: Bool) {
        #expect(Self.hosts.permits(address) == isAllowed)
    }

    /// A proxy resolves the names, so that no resolved address can be checked.
    @Test(arguments: [
        ("https://example.org/", true), ("https://example.org:8443/", true),
        ("https://intranet/", false), ("https://intranet./", false), ("https://nas.local/", false),
        ("https://router.home.arpa/", false), ("https://a.internal/", false),
        ("https://localhost/", false), ("http://example.org/", false),
    ])
    func `a pattern for any host matches no names of private networks`(
        _ address: String, _ isAllowed: Bool
    ) throws {
        let hosts = AllowedHosts(patterns: [try #require(AllowedHosts.Pattern("*"))])
        #expect(hosts.permits(address) == isAllowed)
    }

    @Test(arguments: [
        "", "*.", "*", "localhost", "a b.org", "x.org/path", "https://x.org", "**.x.org",
    ])
    func `an invalid host is refused`(_ text: String) {
        #expect((AllowedHosts.Pattern(text) != nil) == (text == "*"))
    }

    @Test(
        arguments: [
            ProviderError.notFound("No."), .invalidArgument("No."), .notSupported("No."),
            .notConfigured("No."), .staleCursor, .noSuchUser("No."), .failed("No."),
            .rateLimited(until: Timestamp(secondsSince1970: 7)), .rateLimited(until: nil),
            .unauthorized, .denied("No."), .refused("No."),
        ])
    func `an error of a provider is preserved`(_ error: ProviderError) throws {
        #expect(try throughTheWire(error) as? ProviderError == error)
    }

    @Test(
        arguments: [
            HTTPError.unreachable("no"), .failed("no"), .tooLarge(limit: 7), .invalidAddress("no"),
            .forbiddenAddress("no"),
        ])
    func `an error of a request is preserved`(_ error: HTTPError) throws {
        #expect(try throughTheWire(error) as? HTTPError == error)
    }

    private func throughTheWire(_ error: any Error) throws -> any Error {
        try refusal(in: PluginMessage.refusal(id: 1, PluginRefusal(error)).line).error(of: "It")
    }
}

/// Values with all properties set.
enum Samples {
    static var server: DiscoveredServer {
        let origin = "https://photos.test"
        var oauth = OAuthDescription(
            authorizationURL: "\(origin)/oauth/authorize", tokenURL: "\(origin)/oauth/token",
            scopes: ["read", "write"], tokenOrigins: [])
        oauth.revocationURL = "\(origin)/oauth/revoke"
        oauth.usesPKCE = true
        oauth.issuer = origin
        oauth.redirectPort = 43117
        oauth.showsCode = false
        oauth.registration = ClientRegistration(
            url: "\(origin)/api/v1/apps", fields: ["client_name": "Image Feed", "website": ""],
            redirectField: "redirect_uris")
        return DiscoveredServer(name: "photos.test", oauth: oauth)
    }

    static var polling: PollingDescription {
        var request = HTTPRequest(.delete, "https://photos.test/password")
        request.headers.append("OCS-APIRequest", "true")
        return PollingDescription(
            server: "photos.test", startURL: "https://photos.test/login", revocation: request)
    }

    static var photo: RemotePhoto {
        var remote = RemotePhoto(
            .filled(id: "1"),
            images: [.thumb: "https://example.org/1?w=200", .full: "https://example.org/1.jpg"],
            note: "{\"a\":1}")
        remote.entry = "key8"
        return remote
    }
}
