internal import ServiceSimulator
internal import XML

/// The interfaces of a server.
///
/// Source: the developer manual (Login Flow v2, OCS, WebDAV), and the WebDAV interface of the app Photos: photos 8.0,
/// `PropFindPlugin.php`, `AlbumPhoto.php` and `PageController.php`. For a server that is not available and for a
/// disabled account: server 31, `lib/base.php` (`checkMaintenanceMode`, `printUpgradePage`), `ocs/v1.php`, `index.php`,
/// and `MaintenancePlugin.php` and `Auth.php` of `apps/dav/lib/Connector/Sabre`. For cookies: server at 0005a24,
/// `passesStrictCookieCheck` of `Http/Request.php`, and `performSameSiteCookieProtection` of `lib/base.php`. No request
/// needs a CSRF token, because a login by password also applies to WebDAV: `tryBasicAuthLogin` of `User/Session.php`.
extension ServerState {
    mutating func serverReply(_ request: RecordedRequest) -> Reply {
        guard request.path.hasPrefix(path + "/") else {
            return Reply(404, html: "<!DOCTYPE html><p>Not found</p>")
        }
        let route = String(request.path.dropFirst(path.count))
        if route == "/status.php" { return Reply(200, json: statusDocument) }
        if isInMaintenance || needsUpgrade { return unavailable(route) }
        switch "\(request.method) \(route)" {
        case "POST /index.php/login/v2": return startLogin(request)
        case "POST /index.php/login/v2/poll": return poll(request)
        case _ where route.hasPrefix("/index.php/login/v2/flow/"):
            return Reply(200, html: "<!DOCTYPE html><p>Connect to your account</p>")
        default: break
        }
        let cookies = request["Cookie"] ?? ""
        let hasSession = cookies.contains("oc_sessionPassphrase=")
        if hasSession, !cookies.contains(Self.strictCookie), !route.hasPrefix("/index.php"),
            request["OCS-APIRequest"] == nil
        {
            return Reply(
                412, json: ["error": "Strict Cookie has not been found in request"],
                headers: [("Set-Cookie", Self.strictCookie)])
        }
        guard let user = username(request) else {
            return route.hasPrefix("/remote.php")
                ? DAVWriter.error(
                    401, "Sabre\\DAV\\Exception\\NotAuthenticated", "No public access")
                : Reply(401, json: ["message": "Current user is not logged in"])
        }
        if users[user]?.isDisabled == true {
            if route.hasPrefix("/remote.php") {
                return DAVWriter.error(
                    503, "Sabre\\DAV\\Exception\\ServiceUnavailable",
                    "OC\\User\\DisabledUserException: This user is disabled")
            }
            return route.hasPrefix("/ocs")
                ? Reply(401, json: ["ocs": ["meta": ["message": "Unauthorised"]]])
                : Reply(401, html: "<!DOCTYPE html><h2>This user is disabled</h2>")
        }
        var reply = authorizedReply(request, user, route)
        if cookies.isEmpty { reply.headers.append(("Set-Cookie", Self.strictCookie)) }
        if !hasSession {
            sessions += 1
            reply.headers.append(
                ("Set-Cookie", "oc_sessionPassphrase=\(token()); path=\(path)/; HttpOnly"))
            reply.headers.append(("Set-Cookie", "nc_session=deleted; Max-Age=0"))
        }
        return reply
    }

    private static let strictCookie = "nc_sameSiteCookiestrict=true"

    /// Returns the reply of a server that is not available.
    private func unavailable(_ route: String) -> Reply {
        if route.hasPrefix("/remote.php") {
            return DAVWriter.error(
                503, "OCA\\DAV\\Exception\\ServerMaintenanceMode",
                isInMaintenance ? "System is in maintenance mode." : "Upgrade needed")
        }
        if route.hasPrefix("/ocs") {
            return Reply(
                503, json: ["ocs": ["meta": ["message": "Service unavailable"]]],
                headers: [("X-Nextcloud-Maintenance-Mode", "1")])
        }
        return isInMaintenance
            ? Reply(
                503, html: "<!DOCTYPE html><p>Maintenance</p>",
                headers: [("X-Nextcloud-Maintenance-Mode", "1"), ("Retry-After", "120")])
            : Reply(200, html: "<!DOCTYPE html><p>Update needed</p>")
    }

    private mutating func authorizedReply(
        _ request: RecordedRequest, _ user: String, _ route: String
    ) -> Reply {
        let segments = route.split(separator: "/").map {
            FormFields.decode($0.replacing("+", with: "%2B"))
        }
        switch (request.method, segments.prefix(3).joined(separator: "/")) {
        case ("DELETE", "ocs/v2.php/core"), ("GET", "ocs/v2.php/cloud"):
            return ocs(request, user, segments.last ?? "")
        case ("SEARCH", "remote.php/dav"): return search(request, user)
        case ("PROPFIND", "remote.php/dav/files"):
            let folder = segments.dropFirst(4).map { $0 + "/" }.joined()
            guard folder.isEmpty || files(of: user).contains(where: { $0.path.hasPrefix(folder) })
            else {
                return DAVWriter.error(404, "Sabre\\DAV\\Exception\\NotFound", "not found")
            }
            return root(user)
        case ("PROPFIND", "remote.php/dav"): return DAVWriter.multiStatus([])
        case ("PROPFIND", "remote.php/dav/photos"):
            return albumReply(request, user, Array(segments.dropFirst(3)))
        case ("PROPPATCH", "remote.php/dav/files"):
            return change(request, user, segments.dropFirst(4).joined(separator: "/"))
        case ("PROPPATCH", "remote.php/dav/photos"):
            return DAVWriter.error(
                403, "Sabre\\DAV\\Exception\\Forbidden", "Only the owner can favorite its photos")
        case ("GET", "remote.php/dav/files"), ("GET", "remote.php/dav/photos"):
            return original(user, segments)
        case ("GET", "index.php/core/preview"):
            return preview(request, files(of: user), request.query["fileId"])
        case ("GET", "index.php/apps/photos") where segments.count == 3: return photosPage
        case ("GET", "index.php/apps/photos"):
            return preview(request, files(of: user) + filesInAlbums, segments.last)
        case ("GET", "index.php/avatar/\(user)"): return Self.image(512, 512)
        default: return Reply(404, html: "<!DOCTYPE html><p>Not found</p>")
        }
    }

    /// The page of the app Photos, whose initial state is JSON in Base64.
    private var photosPage: Reply {
        guard let sourceFolders else { return Reply(404, html: "<!DOCTYPE html><p>Not found</p>") }
        let folders = JSON.array(sourceFolders.map { .string($0) }).text
        let state = Base64Text.encode(Array(JSON.string(folders).text.utf8))
        return Reply(
            200,
            html: """
                <!DOCTYPE html><html><body>
                <input type="hidden" id="initial-state-photos-image-mimes" value="W10=">
                <input type="hidden" id="initial-state-photos-photosSourceFolders" value="\(state)">
                </body></html>
                """)
    }

    private var statusDocument: JSON {
        [
            "installed": true, "maintenance": .bool(isInMaintenance),
            "needsDbUpgrade": .bool(needsUpgrade),
            "version": .string(version.rawValue + ".1"),
            "versionstring": .string(version.rawValue), "edition": "", "productname": "Nextcloud",
            "extendedSupport": false,
        ]
    }

    // MARK: Login

    private mutating func startLogin(_ request: RecordedRequest) -> Reply {
        let flow = LoginFlow(pollToken: token(128), loginToken: token(128))
        flows.append(flow)
        let base = (namedOrigin ?? "http://\(request["Host"] ?? "")") + path
        return Reply(
            200,
            json: [
                "poll": [
                    "token": .string(flow.pollToken),
                    "endpoint": .string(base + "/index.php/login/v2/poll"),
                ],
                "login": .string("\(base)/index.php/login/v2/flow/\(flow.loginToken)"),
            ])
    }

    private mutating func poll(_ request: RecordedRequest) -> Reply {
        guard let index = flows.firstIndex(where: { $0.pollToken == request.fields["token"] }),
            let user = flows[index].user
        else { return Reply(404, json: []) }
        // The credentials are returned only once.
        flows.remove(at: index)
        let credentials = makePassword(of: user)
        return Reply(
            200,
            json: [
                "server": .string("http://\(request["Host"] ?? "")" + path),
                "loginName": .string(credentials.login),
                "appPassword": .string(credentials.password),
            ])
    }

    private mutating func ocs(
        _ request: RecordedRequest, _ user: String, _ name: String
    ) -> Reply {
        guard request["OCS-APIRequest"] == "true" else {
            return Reply(412, json: ["message": "CSRF check failed"])
        }
        func document(_ data: JSON) -> Reply {
            Reply(
                200,
                json: [
                    "ocs": [
                        "meta": ["status": "ok", "statuscode": 200, "message": "OK"], "data": data,
                    ]
                ])
        }
        switch name {
        case "apppassword":
            if let credentials = credentials(request) { passwords[credentials] = nil }
            return document([])
        case "user":
            let known = users[user]
            return document([
                "id": .string(user), "display-name": .string(known?.displayName ?? user),
                "displayname": .string(known?.displayName ?? user), "email": .null,
                "biography": .string(known?.biography ?? ""), "headline": "", "address": "Bergen",
                "enabled": true, "quota": ["free": 1_000_000, "used": 5, "quota": -3],
            ])
        default: return Reply(404, json: ["message": "Invalid query"])
        }
    }

    // MARK: WebDAV

    private func search(_ request: RecordedRequest, _ user: String) -> Reply {
        do throws(SearchQuery.Failure) {
            guard let root = try? XMLDocument.parse(request.body) else {
                throw SearchQuery.Failure(status: 400, message: "The request is not valid XML")
            }
            let query = try SearchQuery(root, version)
            let all = files(of: user)
            let home = "/files/\(user)"
            // A percent-encoded scope is not found.
            for scope in query.scopes where scope != home {
                let folder = scope.dropFirst(home.count + 1) + "/"
                guard scope.hasPrefix(home + "/"),
                    all.contains(where: { $0.path.hasPrefix(folder) })
                else {
                    return DAVWriter.error(
                        404, "Sabre\\DAV\\Exception\\NotFound", "Search scope not found")
                }
            }
            let liked = favourites[user, default: []]
            let files = all.filter { file in
                query.scopes.contains { "\(home)/\(file.path)".hasPrefix($0 + "/") }
            }
            let found = query.results(files) { property, file in
                switch property {
                case "displayname": .text(file.name)
                case "getcontenttype": .text(file.mediaType)
                case "getlastmodified": .number(file.modified.secondsSince1970)
                case "fileid": .number(file.id)
                case "favorite": liked.contains(file.id) ? .number(1) : nil
                default: file.taken.map { .number($0.secondsSince1970) }
                }
            }
            let writer = DAVWriter(state: self, viewer: user)
            return DAVWriter.multiStatus(
                found.map { writer.file($0, at: href($0, of: user), query.selected) })
        } catch {
            let exception =
                error.exception
                ?? (error.status == 500
                    ? "InvalidArgumentException" : "Sabre\\DAV\\Exception\\BadRequest")
            return DAVWriter.error(error.status, exception, error.message)
        }
    }

    /// Returns the ETag of the user's files, which does not depend on favourites and metadata.
    ///
    /// Source: server 31, `FileInfo::getEtag`, `TagsPlugin.php` and `FilesMetadataManager::saveMetadata`.
    private func root(_ user: String) -> Reply {
        let tag = files(of: user).sorted { $0.id < $1.id }.reduce(0) {
            $0 &* 31 &+ $1.id &+ $1.modified.secondsSince1970
                &+ $1.path.utf8.reduce(0) { $0 &* 31 &+ Int($1) }
        }
        let text = "<d:getetag>&quot;\(tag)&quot;</d:getetag>"
        return DAVWriter.multiStatus([
            "<d:response><d:href>\(path)/remote.php/dav/files/\(Self.encode(user))/</d:href><d:propstat><d:prop>\(text)</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
        ])
    }

    private func href(_ file: SimulatedFile, of user: String) -> String {
        "\(path)/remote.php/dav/files/\(Self.encode(user))/"
            + file.path.split(separator: "/").map { Self.encode($0) }.joined(separator: "/")
    }

    /// Source: sabre/http 5.1, `encodePath`.
    private static func encode(_ text: some StringProtocol) -> String {
        FormFields.encode(String(text)).replacing("+", with: "%20").replacing(/%../) {
            let escape = $0.output.lowercased()
            return escape == "%28" ? "(" : escape == "%29" ? ")" : escape
        }
    }

    private func albumReply(
        _ request: RecordedRequest, _ user: String, _ segments: [String]
    ) -> Reply {
        guard segments.first == user, segments.count > 1,
            let root = try? XMLDocument.parse(request.body), let names = root.child("prop")
        else { return DAVWriter.error(404, "Sabre\\DAV\\Exception\\NotFound", "Not found") }
        let isShared = segments[1] == "sharedalbums"
        if let status = albumFailures[segments.dropFirst(1).joined(separator: "/")] {
            return DAVWriter.error(status, "Sabre\\DAV\\Exception", "Failed")
        }
        let own = albums.filter { $0.isShared == isShared }
        let folder = "\(path)/remote.php/dav/photos/\(Self.encode(user))/\(segments[1])"
        let writer = DAVWriter(state: self, viewer: user)
        guard segments.count > 2 else {
            let items = own.map { album in
                writer.response("\(folder)/\(Self.encode(album.name))/", names.children) { name in
                    switch name {
                    case "nbItems": "\(album.files.count)"
                    case "last-photo": "\(album.files.first ?? -1)"
                    default: nil
                    }
                }
            }
            return DAVWriter.multiStatus(
                [writer.response(folder + "/", names.children) { _ in nil }] + items)
        }
        guard let album = own.first(where: { $0.name == segments[2] }) else {
            return DAVWriter.error(404, "Sabre\\DAV\\Exception\\NotFound", "Album not found")
        }
        let base = "\(folder)/\(Self.encode(album.name))"
        let items = filesInAlbums.filter { album.files.contains($0.id) }.reversed().map { file in
            writer.file(
                file, at: "\(base)/\(file.id)-\(Self.encode(file.name))", names.children,
                isInAlbum: true)
        }
        return DAVWriter.multiStatus(
            [writer.response(base + "/", names.children) { _ in nil }] + items)
    }

    private mutating func change(
        _ request: RecordedRequest, _ user: String, _ path: String
    ) -> Reply {
        guard let file = files(of: user).first(where: { $0.path == path }) else {
            return DAVWriter.error(
                404, "Sabre\\DAV\\Exception\\NotFound",
                "File with name \(path) could not be located")
        }
        guard
            let value = (try? XMLDocument.parse(request.body))?.child("set")?.child("prop")?
                .child("favorite")?.text
        else { return DAVWriter.error(400, "Sabre\\DAV\\Exception\\BadRequest", "No property") }
        let status = file.isProtected ? "403 Forbidden" : "200 OK"
        if !file.isProtected {
            if value == "1" {
                favourites[user, default: []].insert(file.id)
            } else {
                favourites[user, default: []].remove(file.id)
            }
        }
        return DAVWriter.multiStatus([
            "<d:response><d:href>\(href(file, of: user))</d:href><d:propstat><d:prop><oc:favorite/></d:prop><d:status>HTTP/1.1 \(status)</d:status></d:propstat></d:response>"
        ])
    }

    // MARK: Images

    private func original(_ user: String, _ segments: [String]) -> Reply {
        let path = segments.dropFirst(4).joined(separator: "/")
        let id = segments.last.flatMap { Int($0.prefix { $0 != "-" }) }
        let file =
            segments[2] == "files"
            ? files(of: user).first { $0.path == path } : filesInAlbums.first { $0.id == id }
        guard let file else {
            return DAVWriter.error(404, "Sabre\\DAV\\Exception\\NotFound", "Not found")
        }
        return Self.image(file.width ?? 64, file.height ?? 48)
    }

    /// Source: `PreviewController` of server 31 and of photos 6.0, which also finds the files of albums.
    private func preview(
        _ request: RecordedRequest, _ files: [SimulatedFile], _ id: String?
    ) -> Reply {
        guard let id = id.flatMap({ Int($0) }), let file = files.first(where: { $0.id == id }),
            file.hasPreview, !file.isTooLargeForPreview,
            let width = request.query["x"].flatMap({ Int($0) }), width > 0
        else { return Reply(404, json: []) }
        return Self.image(width, width * 3 / 4)
    }

    private static func image(_ width: Int, _ height: Int) -> Reply {
        Reply(
            200, headers: [("Content-Type", "image/jpeg")],
            body: JPEGImage(width: width, height: height, color: "#406080").file)
    }
}
