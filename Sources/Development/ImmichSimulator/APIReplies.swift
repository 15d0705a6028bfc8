internal import FoundationEssentials
internal import ServiceSimulator

/// The API of a server.
///
/// Source: the OpenAPI descriptions of the versions in ``Version``; `auth.service.ts` and `access.ts` of Immich for the
/// errors; `search.service.ts` and `searchAssetBuilder` of `database.ts` of 2.7.5 for the owners in a search, and
/// immich-app/immich #28662 and #30585 for the versions.
extension ServerState {
    mutating func apiReply(_ request: RecordedRequest) -> Reply {
        let path = request.segments
        guard path.first == "api" else { return Reply(200, html: "<p>Immich</p>") }
        let route = path.dropFirst().map { Self.isID($0) ? "*" : $0 }.joined(separator: "/")
        let id = path.first(where: Self.isID) ?? ""
        switch "\(request.method) \(route)" {
        case "GET server/version": return Reply(200, json: versionDocument)
        case "POST auth/login": return logIn(request)
        default: break
        }
        guard let name = username(request), let user = users[name] else {
            return Self.error(
                401, request["x-api-key"] == nil ? "Invalid user token" : "Invalid API key")
        }
        if let missing = missingPermission(request, route) {
            return Self.error(403, "Missing required permission: \(missing)")
        }
        let writer = AssetWriter(self, viewer: name)
        switch "\(request.method) \(route)" {
        case "POST auth/logout":
            if let token = token(request) { sessions[token] = nil }
            return Reply(200, json: ["successful": true, "redirectUri": "/auth/login"])
        case "GET users/me": return Reply(200, json: writer.user(user))
        case "GET users/*/profile-image": return Self.image(200, 200)
        case "GET albums":
            let isShared = request.query["shared"] == "true"
            let found = albums.filter { version.major >= 3 || $0.isShared == isShared }
            return Reply(200, json: .array(found.map { writer.album($0, withAssets: false) }))
        case "GET albums/*":
            guard let album = albums.first(where: { $0.id == id }) else {
                return Self.error(400, "Not found or no album.read access")
            }
            return Reply(200, json: writer.album(album, withAssets: version.major < 3))
        case "GET users":
            return Reply(200, json: .array(users.values.map(writer.user)))
        case "GET stacks": return Reply(200, json: writer.stacks)
        case "GET timeline/buckets", "GET timeline/bucket":
            return timelineReply(request, name, writer)
        case "GET people": return Reply(200, json: writer.people)
        case "GET memories": return memoriesReply(request, writer)
        case "POST search/metadata": return search(request, name, writer)
        case "POST search/smart":
            guard searchesByContent else { return Self.error(400, "Smart search is not enabled") }
            return search(request, name, writer)
        case "PUT assets" where version.major < 4: return change(request, name)
        case "PATCH assets" where version.major >= 3: return change(request, name)
        case "GET assets/*":
            guard let asset = readableAssets(of: name).first(where: { $0.id == id }) else {
                return Self.error(400, "Not found or no asset.read access")
            }
            return Reply(200, json: writer.asset(asset))
        case "GET assets/*/thumbnail", "GET assets/*/original":
            return imageReply(request, id, name, isOriginal: route.hasSuffix("original"))
        default: return Self.error(404, "Cannot \(request.method) \(request.path)")
        }
    }

    private static func isID(_ text: String) -> Bool { text.utf8.count == 36 && text.contains("-") }

    static func error(_ status: Int, _ message: String) -> Reply {
        Reply(
            status,
            json: [
                "message": .string(message), "statusCode": .integer(status),
                "correlationId": "abcdefgh",
            ])
    }

    private var versionDocument: JSON {
        let numbers = version.numbers
        return [
            "major": .integer(numbers[0]), "minor": .integer(numbers[1]),
            "patch": .integer(numbers[2]),
        ]
    }

    // MARK: Users

    private struct Login: Decodable {
        let email: String
        let password: String
    }

    private mutating func logIn(_ request: RecordedRequest) -> Reply {
        guard let login = try? JSONDecoder().decode(Login.self, from: Data(request.body)) else {
            return Self.error(400, "email must be an email")
        }
        guard acceptsPasswords else {
            return Self.error(401, "Password login has been disabled")
        }
        guard
            let user = users.values.first(where: {
                $0.email == login.email && $0.password == login.password
            })
        else { return Self.error(401, "Incorrect email or password") }
        return Reply(
            201,
            json: [
                "accessToken": .string(makeSession(of: user.name)), "userId": .string(user.id),
                "userEmail": .string(user.email), "name": .string(user.name), "isAdmin": false,
                "profileImagePath": "", "shouldChangePassword": false, "isOnboarded": true,
            ])
    }

    /// Returns the permission that the key of a request lacks. A session has all permissions.
    private func missingPermission(_ request: RecordedRequest, _ route: String) -> String? {
        guard let key = request["x-api-key"], let permissions = keys[key]?.permissions else {
            return nil
        }
        let needed: [String: String] = [
            "users/me": "user.read", "users/*/profile-image": "userProfileImage.read",
            "albums": "album.read", "albums/*": "album.read", "people": "person.read",
            "stacks": "stack.read", "users": "user.read", "timeline/buckets": "asset.read",
            "timeline/bucket": "asset.read", "memories": "memory.read",
            "search/metadata": "asset.read",
            "search/smart": "asset.read", "assets/*": "asset.read", "assets": "asset.update",
            "assets/*/thumbnail": "asset.view", "assets/*/original": "asset.download",
        ]
        return needed[route].flatMap { permissions.contains($0) ? nil : $0 }
    }

    // MARK: Lists

    private struct Search: Decodable {
        let page: Int?
        let size: Int?
        let type: String?
        let visibility: String?
        let isFavorite: Bool?
        let albumIds: [String]?
        let personIds: [String]?
        let query: String?
        let takenAfter: String?
        let takenBefore: String?
        let filter: Filter?
        let cursor: String?

        struct Filter: Decodable {
            let type: [String: String]?
            let visibility: [String: String]?
            let isFavorite: [String: Bool]?
            let albumIds: [String: [String]]?
            let personIds: [String: [String]]?
            let takenAt: [String: String]?
        }

        /// True if the body combines members that exclude each other.
        var isMixed: Bool {
            (filter != nil || cursor != nil)
                && (page != nil || type != nil || visibility != nil || isFavorite != nil
                    || albumIds != nil || personIds != nil || takenBefore != nil)
        }
    }

    private func search(
        _ request: RecordedRequest, _ user: String, _ writer: AssetWriter
    ) -> Reply {
        guard let search = try? JSONDecoder().decode(Search.self, from: Data(request.body)),
            1...1000 ~= search.size ?? 250, (search.page ?? 1) >= 1
        else { return Self.error(400, "size must not be greater than 1000") }
        let filter = version.hasFilters ? search.filter : nil
        guard !version.hasFilters || !search.isMixed else {
            return Self.error(400, "Deprecated field page cannot be combined with filter")
        }
        var found = searchedAssets(of: user)
        if let type = search.type ?? filter?.type?["eq"] {
            found = found.filter { $0.kind == type }
        }
        if search.visibility ?? filter?.visibility?["eq"] == "timeline" || version.major < 3 {
            found = found.filter(\.isOnTimeline)
        }
        if let isFavorite = search.isFavorite ?? filter?.isFavorite?["eq"] {
            let liked = favourites[user, default: []]
            found = found.filter { liked.contains($0.id) == isFavorite }
        }
        // Version 1 ignores members that it does not have.
        if let ids = search.albumIds ?? filter?.albumIds?["any"], version.major > 1 {
            guard let album = albums.first(where: { ids.contains($0.id) }) else {
                return Self.error(400, "Not found or no album.read access")
            }
            if version.searchesAllOwners { found = assets }
            found = found.filter { album.assets.contains($0.id) }
        }
        if let ids = search.personIds ?? filter?.personIds?["any"] {
            let people = people.filter { ids.contains($0.id) }
            found = found.filter { asset in people.contains { $0.assets.contains(asset.id) } }
        }
        // Both limits are included. The times of assets have no fractions of a second.
        if let after = search.takenAfter {
            found = found.filter { $0.created.utc >= after.prefix(19) + "Z" }
        }
        if let before = search.takenBefore ?? filter?.takenAt?["lte"] {
            found = found.filter { $0.created.utc <= before.prefix(19) + "Z" }
        }
        if let query = search.query { found = found.filter { $0.description.contains(query) } }
        let page =
            search.page ?? search.cursor.flatMap { Int($0.dropFirst("after-page-".count)) } ?? 1
        let size = min(search.size ?? 250, photosPerPage)
        let rest = found.dropFirst((page - 1) * size)
        let items = rest.prefix(size).map { writer.asset($0) }
        return Reply(
            200,
            json: [
                "albums": ["total": 0, "count": 0, "items": [], "facets": []],
                "assets": [
                    "total": .integer(items.count), "count": .integer(items.count),
                    "items": .array(items), "facets": [],
                    "nextPage": rest.count > size && filter == nil ? .string("\(page + 1)") : .null,
                    "nextCursor": rest.count > size && filter != nil
                        ? .string("after-page-\(page + 1)") : .null,
                ],
            ])
    }

    /// The months of an album or of the timeline, or the assets of a month.
    ///
    /// Source: immich 1.118, 2.0.0 and 3.0.3, `timeline.service.ts`, and `getTimeBucket` of `asset.repository.ts`: with
    /// an album, no owner is filtered. Before 1.133, `time-bucket.dto.ts` requires `size`, and a month is a list of assets.
    private func timelineReply(
        _ request: RecordedRequest, _ user: String, _ writer: AssetWriter
    ) -> Reply {
        let query = request.query
        var found = assets
        if let id = query["albumId"] {
            guard let album = albums.first(where: { $0.id == id }) else {
                return Self.error(400, "Not found or no album.read access")
            }
            found = found.filter { album.assets.contains($0.id) }
        } else if query["withPartners"] == "true" {
            guard query[version == .v1_117 ? "isArchived" : "visibility"] != nil else {
                return Self.error(
                    400, "withPartners is only supported for non-archived, non-trashed assets")
            }
            found = searchedAssets(of: user)
        } else {
            found = assets(of: user)
        }
        guard version != .v1_117 || query["size"] == "MONTH" else {
            return Self.error(400, "size must be one of the following values: DAY, MONTH")
        }
        if query["visibility"] == "timeline" || query["isArchived"] == "false" {
            found = found.filter(\.isOnTimeline)
        }
        if query["withStacked"] == "true" {
            let hidden = stacks.flatMap { stack in stack.assets.filter { $0 != stack.primary } }
            found = found.filter { !hidden.contains($0.id) }
        }
        let months = Dictionary(grouping: found) { "\($0.created.utc.prefix(7))-01" }
        if let month = query["timeBucket"] {
            // A database that is not in UTC finds nothing for a day without a time.
            let day = month.hasSuffix("T00:00:00.000Z") ? String(month.prefix(10)) : ""
            let assets = months[day, default: []]
            return Reply(
                200,
                json: version == .v1_117
                    ? .array(assets.map(writer.asset)) : writer.bucket(assets))
        }
        return Reply(
            200,
            json: .array(
                months.keys.sorted(by: >).map { month in
                    [
                        "timeBucket": .string(month),
                        "count": .integer(months[month, default: []].count),
                    ]
                }))
    }

    private func memoriesReply(_ request: RecordedRequest, _ writer: AssetWriter) -> Reply {
        let hasTime = request.query["for"]?.contains("T") ?? false
        if version.major >= 3, hasTime != (version == .v3_0) {
            // Source: immich 3.0.3, `MemorySearchDto`.
            return Self.error(400, "Validation failed")
        }
        var found = memories
        if version != .v1_117, let date = request.query["for"] {
            // The day without the year.
            found = found.filter { $0.day.dropFirst(4) == date.prefix(10).dropFirst(4) }
        }
        return Reply(200, json: .array(found.map { writer.memory($0.day, $0.assets) }))
    }

    // MARK: Assets

    private struct Change: Decodable {
        let ids: [String]
        let isFavorite: Bool
    }

    private mutating func change(_ request: RecordedRequest, _ user: String) -> Reply {
        let own = Set(assets.filter { $0.owner == nil || $0.owner == user }.map(\.id))
        guard let change = try? JSONDecoder().decode(Change.self, from: Data(request.body)),
            change.ids.allSatisfy(own.contains)
        else { return Self.error(400, "Not found or no asset.update access") }
        if change.isFavorite {
            favourites[user, default: []].formUnion(change.ids)
        } else {
            favourites[user, default: []].subtract(change.ids)
        }
        return Reply(204)
    }

    private func imageReply(
        _ request: RecordedRequest, _ id: String, _ user: String, isOriginal: Bool
    ) -> Reply {
        guard let asset = readableAssets(of: user).first(where: { $0.id == id }) else {
            return Self.error(400, "Not found or no asset.view access")
        }
        if isOriginal { return Self.image(asset.width, asset.height) }
        switch request.query["size"] {
        case "thumbnail": return Self.image(64, 48)
        case "preview": return Self.image(320, 240)
        case "fullsize" where version != .v1_117:
            // The original, unless it has to be converted.
            return asset.mediaType == "image/jpeg"
                ? .redirect(to: "/api/assets/\(id)/original")
                : Self.image(asset.width, asset.height)
        default:
            return Self.error(400, "size must be one of the following values: preview, thumbnail")
        }
    }

    private static func image(_ width: Int, _ height: Int) -> Reply {
        Reply(
            200, headers: [("Content-Type", "image/jpeg")],
            body: JPEGImage(width: width, height: height, color: "#406080").file)
    }
}
