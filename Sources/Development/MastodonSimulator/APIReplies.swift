internal import ServiceSimulator

/// The API of a server.
///
/// Source: docs.joinmastodon.org, recorded responses of 4.6.4; for Pixelfed its source code, 0.11.13.
extension ServerState {
    mutating func apiReply(_ request: RecordedRequest) -> Reply {
        switch request.path {
        case "/.well-known/oauth-authorization-server": return serverDocument
        case "/.well-known/nodeinfo": return nodeInfoLinks
        case "/nodeinfo/2.0": return nodeInfo
        case "/.well-known/webfinger": return webFinger(request, server: name)
        default: break
        }
        let path = request.segments
        guard path.count >= 3, path[0] == "api" else { return notFound }
        func part(_ index: Int) -> String { index < path.count ? path[index] : "" }
        switch (request.method, path[1], part(2), part(3), part(4)) {
        case ("GET", "v1", "instance", "", ""), ("GET", "v2", "instance", "", ""):
            return instance(part(1), request)
        case ("POST", "v1", "apps", "", ""): return register(request)
        default: break
        }
        if let refusal = refusal(request) { return refusal }
        guard path[1] == "v1", let username = username(request), let user = users[username]
        else { return unauthorized }
        let writer = StatusWriter(self, viewer: user)
        switch (request.method, part(2), part(3), part(4)) {
        case ("GET", "accounts", "verify_credentials", ""):
            return Reply(200, json: writer.ownAccount(user))
        case ("GET", "accounts", "lookup", ""): return lookup(request, writer)
        case ("GET", "accounts", let id, "statuses"):
            return list(statuses.filter { users[$0.author]?.id == id }, request, writer)
        case ("GET", "timelines", "home", ""):
            if settings.isPreparingHome { return Reply(206, json: []) }
            return list(
                statuses.filter { !settings.unfollowed.contains($0.author) }, request, writer)
        case ("GET", "timelines", "public", ""): return publicTimeline(request, writer)
        case ("GET", "timelines", "tag", let tag):
            return list(statuses.filter { $0.tag == tag }, request, writer)
        case ("GET", "favourites", "", ""): return favourites(user, request, writer)
        case ("GET", "statuses", let id, ""):
            return status(id).map { Reply(200, json: writer.status($0)) } ?? notFound
        case ("POST", "statuses", let id, "favourite"): return favourite(id, true, username)
        case ("POST", "statuses", let id, "unfavourite"): return favourite(id, false, username)
        default: return notFound
        }
    }

    private var notFound: Reply {
        guard software != .snac else {
            return Reply(
                404, html: "<h1>404 Not Found (snac/2.75)</h1>",
                headers: [("X-Creator", "snac/2.75")])
        }
        return error(404, "Record not found", "レコードが見つかりません")
    }

    private var unauthorized: Reply {
        switch software.tokenRefusal {
        case .doorkeeper:
            var reply = error(401, "The access token is invalid", "アクセストークンは無効です")
            reply.set("WWW-Authenticate", "Bearer realm=\"Doorkeeper\", error=\"invalid_token\"")
            return reply
        case .laravel: return Reply(500, json: ["error": "Unauthenticated."])
        case .forbidden(let text): return Reply(403, json: ["error": .string(text)])
        case .emptyPage:
            var reply = Reply(401, html: "")
            reply.set("X-Creator", "snac/2.75")
            return reply
        case .badRequest: return Reply(400, html: "Invalid Bearer token")
        case .misskey:
            return Reply(
                401,
                json: [
                    "error": [
                        "message": "Authentication failed.", "code": "AUTHENTICATION_FAILED",
                    ]
                ])
        }
    }

    /// Returns the error for a request without a valid token or scope; nil if the request is allowed.
    private func refusal(_ request: RecordedRequest) -> Reply? {
        guard let grant = grant(request) else {
            // Pixelfed redirects requests that do not accept JSON to its login page.
            let wantsJSON = request["Accept"]?.contains("application/json") ?? false
            if software == .pixelfed, !wantsJSON { return .redirect(to: "\(origin)/login") }
            return unauthorized
        }
        let needed = Self.scope(of: request)
        let broad = String(needed.prefix { $0 != ":" })
        guard grant.scopes.contains(needed) || grant.scopes.contains(broad) else {
            return error(
                403, "This action is outside the authorized scopes", "この操作は許可されていません")
        }
        return nil
    }

    private static func scope(of request: RecordedRequest) -> String {
        let path = request.path
        if request.method == "POST" { return "write:favourites" }
        if path.contains("/favourites") { return "read:favourites" }
        return path.contains("/accounts/verify") || path.contains("/lookup")
            ? "read:accounts" : "read:statuses"
    }

    // MARK: Server

    private func instance(_ version: String, _ request: RecordedRequest) -> Reply {
        switch software.instance {
        case .firstOnly where version == "v2": return notFound
        case .secondFails where version == "v2": return error(500, "Internal error", "エラー")
        case .closed where grant(request) == nil:
            return error(401, "This method requires an authenticated user", "ログインが必要です")
        default: break
        }
        let number = settings.version ?? software.version
        let address: JSON = version == "v2" ? ["domain": .string(name)] : ["uri": .string(name)]
        return Reply(
            200,
            json: address + [
                "title": .string(name), "version": .string(number), "description": "",
                "configuration": ["statuses": ["max_media_attachments": 4]],
            ])
    }

    private var serverDocument: Reply {
        guard software.hasServerDocument else { return error(404, "Not Found", "見つかりません") }
        return Reply(
            200,
            json: [
                "issuer": "\(origin)/", "authorization_endpoint": "\(origin)/oauth/authorize",
                "token_endpoint": "\(origin)/oauth/token",
                "revocation_endpoint": "\(origin)/oauth/revoke",
                "userinfo_endpoint": "\(origin)/oauth/userinfo",
                "scopes_supported": .array(Self.scopes.sorted().map { .string($0) }),
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "app_registration_endpoint": "\(origin)/api/v1/apps",
            ])
    }

    private var nodeInfoLinks: Reply {
        Reply(
            200,
            json: [
                "links": [
                    [
                        "rel": "http://nodeinfo.diaspora.software/ns/schema/2.0",
                        "href": "\(origin)/nodeinfo/2.0",
                    ]
                ]
            ])
    }

    private var nodeInfo: Reply {
        let name = software.name.split(separator: " ").last.map(String.init)
        return Reply(
            200,
            json: [
                "version": "2.0",
                "software": ["name": .string(name), "version": .string(software.version)],
                "protocols": ["activitypub"], "openRegistrations": false,
            ])
    }

    static let scopes: Set = [
        "read", "profile", "write", "write:favourites", "write:statuses", "read:accounts",
        "read:favourites", "read:statuses", "read:search", "follow", "push",
    ]

    // MARK: Lists

    private func publicTimeline(_ request: RecordedRequest, _ writer: StatusWriter) -> Reply {
        let isOwn = software == .pixelfed
        // There are no other servers in the simulation; for Pixelfed, the statuses of Lin count as remote ones.
        let wantsRemote = request.query["remote"] == "true"
        return list(
            statuses.filter {
                $0.boosts == nil && (!isOwn || !wantsRemote || $0.author == "lin")
            },
            request, writer)
    }

    private func lookup(_ request: RecordedRequest, _ writer: StatusWriter) -> Reply {
        guard let user = users[request.query["acct"] ?? ""] else { return notFound }
        return Reply(200, json: writer.account(user))
    }

    private func list(
        _ all: [SimulatedStatus], _ request: RecordedRequest, _ writer: StatusWriter
    ) -> Reply {
        var all = all
        // snac ignores the filters.
        if request.query["only_media"] == "true" && software != .snac || software == .pixelfed {
            all = all.filter {
                (!$0.attachments.isEmpty || $0.boosts != nil) == (software != .takahe)
            }
        }
        if request.query["exclude_reblogs"] == "true" || software == .pixelfed {
            all = all.filter { $0.boosts == nil }
        }
        // Pixelfed and others ignore an empty value.
        if let newest = request.query["max_id"], !newest.isEmpty {
            all = all.filter { $0.id < newest }
        }
        let limit = limit(request, 20)
        var page = Array(all.prefix(limit))
        let isHome = request.path == "/api/v1/timelines/home"
        if isHome, settings.hasCachedHome, page.isEmpty { return Reply(206, json: []) }
        // GoToSocial loads a page that is not full again from its beginning.
        if isHome, software == .goToSocial { page += page.prefix(limit - page.count) }
        return reply(
            page.map { writer.status($0) }, request, older: page.last?.id, newer: page.first?.id)
    }

    private func limit(_ request: RecordedRequest, _ standard: Int) -> Int {
        min(max(Int(request.query["limit"] ?? "") ?? standard, 1), settings.pageLimit)
    }

    /// Returns a page with its `Link` field. The last page also has the field, and an empty page does not.
    private func reply(
        _ page: [JSON], _ request: RecordedRequest, older: String?, newer: String?
    ) -> Reply {
        var reply = Reply(200, json: .array(page))
        guard let older, let newer, !settings.omitsLinks else { return reply }
        guard software != .snac || request.path == "/api/v1/timelines/home" else { return reply }
        func link(_ name: String, _ value: String, _ relation: String) -> String {
            let others = request.query.fields.filter { $0.name != "max_id" && software != .snac }
            let query = FormFields.encode(others + [(name, value)])
            return "<\(origin)\(request.path)?\(query)>; rel=\"\(relation)\""
        }
        // Source: pixelfed 0.11.13, `ApiV1Controller::timelineHome`: the next page of a page with one status is the
        // first one.
        let links =
            software == .pixelfed && older == newer && request.path != "/api/v1/favourites"
            ? [link("max_id", "", "next")]
            : [link("max_id", older, "next"), link("min_id", newer, "prev")]
        reply.set("Link", links.joined(separator: software == .pixelfed ? "," : ", "))
        return reply
    }

    private func favourites(
        _ user: SimulatedUser, _ request: RecordedRequest, _ writer: StatusWriter
    ) -> Reply {
        guard software != .snac else { return Reply(200, json: []) }
        var likes = user.likes.filter { status($0.status) != nil }
        if let newest = Int(request.query["max_id"] ?? "") {
            likes = likes.filter { $0.number < newest }
        }
        let page = Array(likes.prefix(limit(request, software == .pixelfed ? 10 : 20)))
        let isPixelfed = software == .pixelfed
        let documents = page.compactMap { like in
            status(like.status).map { status in
                let document = writer.status(status)
                return isPixelfed
                    ? document + ["like_id": .integer(like.number)] : document
            }
        }
        // Pixelfed uses the newest like instead of the oldest one.
        let older = isPixelfed ? page.first : page.last
        return reply(
            documents, request, older: older.map { "\($0.number)" },
            newer: page.first.map { "\($0.number)" })
    }

    // MARK: Likes

    private mutating func favourite(
        _ id: SimulatedStatus.ID, _ isLiked: Bool, _ username: String
    ) -> Reply {
        guard let status = status(id), status.boosts == nil else { return notFound }
        let before = likes(of: status)
        if !isLiked, settings.delaysUnfavourites {
            delayUnfavourite(id, of: username)
        } else {
            setLike(id, of: username, isLiked)
        }
        guard let user = users[username] else { return unauthorized }
        var document = StatusWriter(self, viewer: user).status(status)
        document = document.without("favourited") + ["favourited": .bool(isLiked)]
        if software == .pixelfed, isLiked {
            document =
                document.without("favourites_count") + ["favourites_count": .integer(before + 1)]
        }
        return Reply(200, json: document)
    }
}
