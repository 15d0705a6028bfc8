package import ServiceSimulator

/// The API: `api.unsplash.com`.
///
/// Source: recorded responses; the reference at unsplash.com/documentation if there is no recorded response.
extension ServiceState {
    private enum Caller {
        case application
        case user(TokenStore.Grant)

        var username: String? {
            guard case .user(let grant) = self else { return nil }
            return grant.username
        }
    }

    mutating func apiReply(_ request: RecordedRequest) -> Reply {
        guard let caller = caller(request) else { return Self.unauthorized }
        let path = request.segments
        guard 1...3 ~= path.count else { return .errors(404, "Not Found") }
        let writer = writer(for: caller.username)
        func part(_ index: Int) -> String { index < path.count ? path[index] : "" }
        switch (request.method, part(0), part(1), part(2)) {
        case ("GET", "me", "", ""):
            return requireScope(caller, "read_user") { state, user in
                Reply(200, json: state.writer(for: user.username).ownProfile(user))
            }
        case ("POST", "photos", let id, "like"), ("DELETE", "photos", let id, "like"):
            return like(id, request.method == "POST", caller)
        case ("GET", "photos", "", ""):
            return list(catalogue.feed, request, writer)
        case ("GET", "photos", "random", ""): return random(request, writer)
        case ("GET", "photos", let id, ""):
            guard let photo = catalogue.photo(id) else {
                return .errors(404, "Couldn't find Photo")
            }
            return Reply(200, json: writer.full(photo, .detail))
        case ("GET", "photos", let id, "download"): return download(id, request, writer)
        case ("GET", "users", let name, let subpath): return user(name, subpath, request, writer)
        case ("GET", "search", "photos", ""): return search(request, writer)
        case ("GET", "topics", let slug, let subpath): return topics(slug, subpath, request, writer)
        case ("GET", "collections", let id, let subpath):
            return collections(id, subpath, request, writer)
        default: return .errors(404, "Not Found")
        }
    }

    private static let unauthorized = Reply.errors(
        401, "OAuth error: The access token is invalid")
    private static let missingPermissions = Reply.errors(403, "OAuth error: missing permissions")

    /// Returns the caller; nil if neither the token nor the client ID is valid.
    private func caller(_ request: RecordedRequest) -> Caller? {
        let parts = (request["Authorization"] ?? "").split(separator: " ").map(String.init)
        if parts.count == 2, parts[0] == "Bearer" {
            return tokens.grant(parts[1], now: now).map { .user($0) }
        }
        let key =
            parts.count == 2 && parts[0] == "Client-ID" ? parts[1] : request.query["client_id"]
        return key.flatMap { applications[$0] } == nil ? nil : .application
    }

    /// Returns the user of a request's token, if it is valid.
    package func username(_ request: RecordedRequest) -> String? { caller(request)?.username }

    /// Returns the reply for a user with a scope; an error for other callers.
    private mutating func requireScope(
        _ caller: Caller, _ scope: String,
        _ makeReply: (inout ServiceState, SimulatedUser) -> Reply
    ) -> Reply {
        guard case .user(let grant) = caller, let user = catalogue.users[grant.username] else {
            return Self.unauthorized
        }
        guard grant.scopes.contains(scope) else {
            return Self.missingPermissions
        }
        return makeReply(&self, user)
    }

    // MARK: Photos

    private mutating func like(_ id: String, _ isLiked: Bool, _ caller: Caller) -> Reply {
        if let refusal = refusalOfLikes { return refusal }
        return requireScope(caller, "write_likes") { state, user in
            guard let photo = state.catalogue.photo(id) else {
                return .errors(404, "Couldn't find Photo")
            }
            state.setLike(photo.id, of: user.username, isLiked)
            if !isLiked && state.settings.hasEmptyUnlikeReply { return Reply(204) }
            let writer = state.writer(for: user.username)
            return Reply(
                isLiked ? 201 : 200,
                json: [
                    "photo": writer.abbreviated(photo, .detail),
                    "user": writer.user(state.catalogue.users[user.username] ?? user),
                ])
        }
    }

    mutating func setLike(_ id: SimulatedPhoto.ID, of username: String, _ isLiked: Bool) {
        let hasLike = catalogue.users[username]?.likes.contains(id) ?? false
        guard isLiked != hasLike else { return }
        if isLiked {
            catalogue.users[username]?.likes.insert(id, at: 0)
        } else {
            catalogue.users[username]?.likes.removeAll { $0 == id }
        }
    }

    private var refusalOfLikes: Reply? {
        switch settings.likes {
        case .available: nil
        case .refused(status: 403): Self.missingPermissions
        case .refused(let status): .errors(status, status == 410 ? "Gone" : "Not available")
        case .absent: .errors(404, "Not Found")
        }
    }

    private func random(_ request: RecordedRequest, _ writer: DocumentWriter) -> Reply {
        var random = SeededRandom(seed: UInt64(request.number))
        let count = Int(request.query["count"] ?? "")
        let photos = catalogue.photos(catalogue.feed).shuffled(using: &random)
            .prefix(min(max(count ?? 1, 1), 30)).map { writer.full($0, .random) }
        var reply = Reply(200, json: count == nil ? photos.first ?? nil : .array(Array(photos)))
        reply.set(
            "Cache-Control", "private,max-age=0,stale-if-error=3600,stale-while-revalidate=0")
        return reply
    }

    private mutating func download(
        _ id: String, _ request: RecordedRequest, _ writer: DocumentWriter
    ) -> Reply {
        guard let photo = catalogue.photo(id) else { return .errors(404, "Couldn't find Photo") }
        // The real service does not require the parameter, but counts no view without it.
        guard let ixid = request.query["ixid"], !ixid.isEmpty else {
            return .errors(400, "ixid is missing")
        }
        downloads[photo.id, default: 0] += 1
        return Reply(
            200,
            json: [
                "url": .string(
                    "\(origins.images)\(photo.imagePath)?ixid=\(ixid)&ixlib=rb-4.0.3&q=85&fm=jpg&crop=entropy&cs=srgb"
                )
            ])
    }

    private func search(_ request: RecordedRequest, _ writer: DocumentWriter) -> Reply {
        guard let query = request.query["query"], !query.isEmpty else {
            return .errors(400, "query is missing")
        }
        guard query != "spam" else { return .errors(410, "Query flagged as spam") }
        let words = query.lowercased().split(separator: " ")
        let found = catalogue.photos(catalogue.feed).filter { photo in
            let text = "\(photo.slug) \(photo.description ?? "") \(photo.tags)".lowercased()
            return words.allSatisfy { text.contains($0) }
        }
        return Listing(found, request, origin: origins.api).reply { items, pages in
            [
                "total": .integer(found.count), "total_pages": .integer(pages),
                "results": .array(
                    items.map { writer.found($1, .search(position: $0 + 1, query: query)) }),
            ]
        } headers: {
            [
                ("Cache-Control", "max-age=86400,stale-if-error=3600,stale-while-revalidate=60"),
                (
                    "Warning",
                    "The tags property in this endpoint is deprecated. https://changelog.unsplash.com/deprecations/2021/07/12/tags-search-deprecation.html"
                ),
            ]
        }
    }

    /// Lists the photos with these IDs. Only the photos of the requested page are read.
    private func list(
        _ ids: [SimulatedPhoto.ID], _ request: RecordedRequest, _ writer: DocumentWriter
    ) -> Reply {
        Listing(ids, request, origin: origins.api).reply { items, _ in
            .array(
                items.compactMap { item in
                    catalogue.photos[item.element].map {
                        writer.listed($0, .list(position: item.offset + 1))
                    }
                })
        }
    }

    private func list(
        _ photos: [SimulatedPhoto], _ request: RecordedRequest, _ writer: DocumentWriter
    ) -> Reply {
        Listing(photos, request, origin: origins.api).reply { items, _ in
            .array(items.map { writer.listed($1, .list(position: $0 + 1)) })
        }
    }

    // MARK: Users, topics, collections

    private func user(
        _ name: String, _ subpath: String, _ request: RecordedRequest, _ writer: DocumentWriter
    ) -> Reply {
        guard let user = catalogue.users[name] else { return .errors(404, "Couldn't find User") }
        switch subpath {
        case "": return Reply(200, json: writer.profile(user))
        case "photos": return list(writer.photos(of: name), request, writer)
        case "likes":
            // The list contains deleted photos.
            return refusalOfLikes ?? list(catalogue.photos(user.likes), request, writer)
        case "collections":
            return Listing(catalogue.collections(of: name), request, origin: origins.api).reply {
                items, _ in .array(items.map { writer.collection($0.element) })
            }
        case "portfolio": return Reply(200, json: ["url": .string(user.portfolioURL ?? "")])
        default: return .errors(404, "Not Found")
        }
    }

    private func topics(
        _ slug: String, _ subpath: String, _ request: RecordedRequest, _ writer: DocumentWriter
    ) -> Reply {
        if slug.isEmpty {
            return Listing(catalogue.topics, request, origin: origins.api).reply { items, _ in
                .array(items.map { writer.topic($0.element) })
            }
        }
        guard let topic = catalogue.topics.first(where: { $0.slug == slug || $0.id == slug }) else {
            return .errors(404, "Couldn't find Topic")
        }
        return switch subpath {
        case "": Reply(200, json: writer.topic(topic))
        case "photos": list(catalogue.photos(topic.photos), request, writer)
        default: .errors(404, "Not Found")
        }
    }

    private func collections(
        _ id: String, _ subpath: String, _ request: RecordedRequest, _ writer: DocumentWriter
    ) -> Reply {
        guard let collection = catalogue.collections.first(where: { $0.id == id }) else {
            return .errors(404, "Couldn't find Collection")
        }
        return switch subpath {
        case "": Reply(200, json: writer.collection(collection))
        case "photos": list(catalogue.photos(collection.photos), request, writer)
        default: .errors(404, "Not Found")
        }
    }
}
