internal import JSONFormat
internal import ProviderKit
internal import Translation
internal import WebService
internal import XML

/// A client for the interfaces of one server.
struct NextcloudClient: ServiceClient {
    let server: ServerAddress
    let service: ServiceDescription
    /// The ID of the user, which is part of the paths of files.
    let user: String
    let ports: SessionPorts
    private let http: CookieClient
    let mapping: ModelMapping
    /// The patterns of the files that the user does not want to see.
    private let excluded: PathPatterns

    /// The maximum size of a document in bytes. A photo takes about 2 KiB.
    private static let maximumBytes = 32 << 20

    /// - Throws: ``ProviderError/invalidArgument(_:)`` for an invalid server, ``ProviderError/notConfigured(_:)``.
    init(
        _ account: AccountIdentity, _ ports: SessionPorts,
        events: AsyncStream<SessionEvent>.Continuation? = nil
    ) throws(ProviderError) {
        server = try ServerAddress(account.server, keepsPath: true)
        service = .server(server.host)
        user = account.username
        excluded = PathPatterns(list: ports.settings["Exclude"] ?? "")
        mapping = ModelMapping(
            server: server,
            showsLocation: try ports.settings.flag("ShowLocation", of: "nextcloud"),
            omissions: OmittedImages(server.host, ports.logger, events))
        self.ports = ports
        // Without the field, a session needs the same-site cookies, which the server sends only to a request without any
        // cookie.
        //
        // Source: server at 0005a24, `cookieCheckRequired` of `Http/Request.php`.
        http = CookieClient(ports.http, of: server.origin, field: ("OCS-APIRequest", "true"))
    }

    // MARK: WebDAV

    /// The files of a search or an album that can be read, and the number of files that the server listed.
    typealias Listing = (records: [FileRecord], count: Int)

    /// Searches the files of the user.
    ///
    /// - Parameters:
    ///   - condition: The condition.
    ///   - order: The property by which the results are ordered, highest first; nil for any order.
    ///   - limit: The maximum number of results.
    ///   - hasMetadata: True if the properties of the app Photos are requested.
    ///   - onlyPositions: True if only the properties are requested that determine the order.
    ///   - folders: The paths of the folders below the user's files: `/Photos`. Empty for all.
    ///   - subject: The item, for error messages.
    /// - Returns: The results, in any order: servers sort results of several storages again.
    /// - Throws: ``UnsupportedSearch`` if the server does not support a part of the search; ``ProviderError``,
    ///   ``HTTPError``.
    func search(
        _ condition: DAVCondition, by order: String?, limit: Int, hasMetadata: Bool,
        onlyPositions: Bool = false, in folders: [String] = [], about subject: Refusal.Subject
    ) async throws -> Listing {
        let properties =
            onlyPositions
            ? positionProperties(hasMetadata: hasMetadata)
            : photoProperties(hasMetadata: hasMetadata)
        var folders = folders
        while true {
            let scopes = (folders.isEmpty ? [""] : folders).map { "/files/\(user)\($0)" }
            let body = searchBody(
                in: scopes, properties, where: condition, by: order, limit: limit)
            let response = try await exchange(.search, "/remote.php/dav/", body)
            guard let error = await failure(response, subject) else {
                return try await listing(response)
            }
            if response.status == 404, !folders.isEmpty {
                let existing = try await existing(folders, subject)
                guard existing != folders else { throw error }
                folders = existing
                continue
            }
            let refusal = refusal(response, subject)
            guard folders.count > 1, refusal.isUnsupportedScope else {
                throw refusal.isUnsupportedSearch ? UnsupportedSearch(error: error) : error
            }
            folders = []
        }
    }

    /// Returns the folders that exist.
    private func existing(
        _ folders: [String], _ subject: Refusal.Subject
    ) async throws -> [String] {
        var existing: [String] = []
        for folder in folders {
            let response = try await find(folder)
            if response.status == 404, !response.isHTML { continue }
            if let error = await failure(response, subject) { throw error }
            existing.append(folder)
        }
        return existing
    }

    /// Fetches the rule for the files that are shown.
    ///
    /// - Parameter tag: The ETag of the user's files; nil if it is unknown.
    /// - Returns: The rule, with the folders of the files `.nomedia` and `.noimage`.
    /// - Throws: ``ProviderError``, ``HTTPError``.
    func fileFilter(tag: String?) async throws -> FileFilter {
        let found: Listing
        do {
            found = try await search(
                .hidesFolder, by: nil, limit: PhotoSearch.maximumPositions, hasMetadata: false,
                onlyPositions: true, about: .other(Message("list the hidden folders")))
        } catch let error as UnsupportedSearch {
            // All servers with the search support its condition.
            throw error.error
        }
        let folders = found.records.compactMap(\.filePath).compactMap { path -> String? in
            let parts = path.split(separator: "/")
            guard [".nomedia", ".noimage"].contains(parts.last) else { return nil }
            return parts.dropLast().map { $0 + "/" }.joined()
        }
        return FileFilter(tag: tag, excluded: excluded, folders: folders)
    }

    /// Fetches the folders that the app Photos shows, from the initial state of its page: no interface has them.
    ///
    /// Source: photos 8.0, `PageController::index`; server 31, `layout.initial-state.php`.
    ///
    /// - Returns: The paths below the user's files, `/Photos`; none without the app, if it does not state them, if only
    ///   the page requires another login, or for all files.
    /// - Throws: ``ProviderError`` for another page, ``HTTPError``.
    func sourceFolders() async throws -> [String] {
        let mark = "id=\"initial-state-photos-"
        let request = HTTPRequest(.get, server.base + "/index.php/apps/photos/")
        let response = try await http.send(request)
        // A gateway may protect the pages of the server, and not the interfaces for programs.
        if [301, 302, 303, 307, 308, 401, 404].contains(response.status) { return [] }
        let page = String(decoding: response.body, as: UTF8.self)
        guard response.isSuccess, page.contains(mark) else {
            throw await failure(response, .user) ?? unreadable(response)
        }
        guard let start = page.firstRange(of: mark + "photosSourceFolders\" value=\"")?.upperBound,
            let state = Base64.decode(String(page[start...].prefix { $0 != "\"" })),
            let text: String = JSON.decode(state), let folders: [String] = JSON.decode(text.utf8),
            1...Self.maximumFolders ~= folders.count, !folders.contains("/")
        else { return [] }
        return folders.filter { $0.hasPrefix("/") }
    }

    private static let maximumFolders = 50

    /// Fetches the ETag of the user's files. It changes with each file and share, but not with favourites and with the
    /// metadata that the server reads later.
    ///
    /// Source: server 31, `FileInfo::getEtag`, `TagsPlugin::handleUpdateProperties`, `FilesMetadataManager::saveMetadata`.
    ///
    /// - Returns: The ETag; nil if the server does not state it.
    func filesTag() async throws -> String? {
        let response = try await find("/")
        guard response.isSuccess else { return nil }
        return try? await read(response) {
            $0.responses.first?.properties.child("getetag", in: Namespace.dav)?.text
        }
    }

    /// Requests the ETag of a folder below the user's files.
    private func find(_ folder: String) async throws -> HTTPResponse {
        let path = ([user] + folder.split(separator: "/").map(String.init))
            .map(URLEncoding.escape).joined(separator: "/")
        return try await exchange(
            .propfind, "/remote.php/dav/files/\(path)/", findBody("<d:getetag/>"), depth: 0)
    }

    /// Searches files of the user by their IDs.
    ///
    /// - Parameters:
    ///   - ids: The IDs, any number.
    ///   - hasMetadata: True if the properties of the app Photos are requested.
    ///   - subject: The item, for error messages.
    /// - Returns: The files that the user has.
    /// - Throws: The errors of ``search(_:by:limit:hasMetadata:onlyPositions:about:)``.
    func files(
        _ ids: [Int64], hasMetadata: Bool, about subject: Refusal.Subject
    ) async throws -> [Int64: FileRecord] {
        var found: [Int64: FileRecord] = [:]
        var rest = ids[...]
        while !rest.isEmpty {
            let part = rest.prefix(DAVCondition.maximumComparisons)
            rest = rest.dropFirst(part.count)
            let conditions = part.map {
                DAVCondition.comparison("eq", property: "oc:fileid", literal: "\($0)")
            }
            let records = try await search(
                .any(conditions), by: nil, limit: part.count, hasMetadata: hasMetadata,
                about: subject
            ).records
            for record in records where part.contains(record.id) { found[record.id] = record }
        }
        return found
    }

    /// Lists the photos of an album, with their paths in the album.
    func photos(of source: NextcloudSource) async throws -> [FileRecord] {
        let path = albumPath(source.kind, source.name)
        let response = try await exchange(.propfind, path, findBody(albumProperties), depth: 1)
        if let error = await failure(response, .source(source.id)) { throw error }
        return try await listing(response).records
    }

    /// The path of the user's files at the server.
    var filesRoot: String { server.path + "/remote.php/dav/files/" + URLEncoding.escape(user) }

    private func albumPath(_ kind: NextcloudKind, _ name: String) -> String {
        "/remote.php/dav/photos/\(URLEncoding.escape(user))/\(kind.folder)/\(URLEncoding.escape(name))"
    }

    /// Lists the albums of the user, or those that others share.
    ///
    /// - Returns: The albums; nil if the server has no list of them.
    func albums(_ kind: NextcloudKind) async throws -> [Source]? {
        let response = try await exchange(
            .propfind, albumPath(kind, ""), findBody("<nc:nbItems/><nc:last-photo/>"),
            depth: 1)
        if [404, 405, 501].contains(response.status) { return nil }
        if let error = await failure(response, .other(Message("list the albums"))) { throw error }
        // The first response describes the folder.
        return try await read(response) {
            $0.responses.filter { $0.name != kind.folder }.compactMap { Source(album: $0, kind) }
        }
    }

    /// Changes a favourite.
    func setFavourite(_ file: FileRecord, _ isFavourite: Bool, _ id: PhotoID) async throws {
        guard WebAddress(server.origin + file.path) != nil else {
            throw ProviderError.refused(
                Message(
                    "The path of the file is too long to change its favourite at {server}.",
                    ["server": server.host]))
        }
        let response = try await exchange(
            .proppatch, relative(file.path),
            favouriteBody(isFavourite))
        if let error = await failure(response, .like(id)) { throw error }
        switch try await read(response, \.failure) {
        case nil: return
        case 404: throw service.missing(id)
        case 401, 403, 409, 422:
            throw ProviderError.refused(
                Message(
                    "{server} does not let this account change favourites of the file.",
                    ["server": server.host]))
        case let status?:
            throw ProviderError.failed(
                Message(
                    "{server} rejected the favourite with status {status}; try again later.",
                    ["server": server.host, "status": "\(status)"]))
        }
    }

    /// Returns a path of a response without the path of the server.
    private func relative(_ path: String) -> String {
        path.hasPrefix(server.path + "/") ? String(path.dropFirst(server.path.count)) : path
    }

    private func exchange(
        _ method: HTTPRequest.Method, _ path: String, _ body: String, depth: Int? = nil
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(method, server.base + path)
        request.headers.append("Content-Type", "application/xml; charset=utf-8")
        if let depth { request.headers.append("Depth", "\(depth)") }
        request.body = Array(body.utf8)
        request.maximumBytes = Self.maximumBytes
        return try await http.send(request)
    }

    /// Reads a multi-status document off the main thread.
    private func read<Value: Sendable>(
        _ response: HTTPResponse, _ body: @Sendable (MultiStatus) -> Value
    ) async throws -> Value {
        var failure: (any Error)?
        do {
            let value = try await XMLDocument.read(response.body) { MultiStatus($0).map(body) }
            if let value { return value }
        } catch XMLError.unavailable(let reason) {
            throw ProviderError.notSupported(
                Message(
                    "The documents of {server} cannot be read, because {reason}.",
                    ["server": server.host, "reason": reason]))
        } catch {
            failure = error
        }
        throw unreadable(response, failure)
    }

    private func listing(_ response: HTTPResponse) async throws -> Listing {
        let (listing, unreadable) = try await read(response) { document in
            var records: [FileRecord] = []
            var unreadable = document.unreadable
            for response in document.responses {
                if let record = FileRecord(response) {
                    records.append(record)
                } else if !response.path.hasSuffix("/") {
                    // A folder of the list has no file ID.
                    unreadable.append(MultiStatus.Response.excerpt(response.path))
                }
            }
            return ((records, document.count), unreadable)
        }
        for path in unreadable {
            mapping.omissions.record([path], Message("its entry in the list cannot be read"))
        }
        return listing
    }

    /// Returns the error of a response; nil for a success. During an upgrade, some addresses have a page of any status.
    private func failure(
        _ response: HTTPResponse, _ subject: Refusal.Subject
    ) async -> ProviderError? {
        let refusal = refusal(response, subject)
        guard let error = refusal.error else { return nil }
        guard response.status == 503 || response.isSuccess,
            let status = try? await http.send(HTTPRequest(.get, server.base + "/status.php")),
            let problem = refusal.problem(status.record)
        else { return error }
        return problem
    }

    // MARK: Users

    func profile() async throws -> Profile {
        var request = HTTPRequest(.get, server.base + "/ocs/v2.php/cloud/user?format=json")
        request.headers.append("Accept", "application/json")
        let response = try await http.send(request)
        if let error = await failure(response, .user) {
            guard response.status == 401 else { throw error }
            // The response is the same for a disabled account.
            //
            // Source: server 31, `ocs/v1.php` for a `LoginException`, and `Connector/Sabre/Auth.php`.
            let other = try await exchange(
                .propfind, "/remote.php/dav/", findBody("<d:getetag/>"), depth: 0)
            throw await failure(other, .user) ?? service.invalidResponse(Message("status 401"))
        }
        guard let user = response.record?.record("ocs")?.record("data"),
            let profile = mapping.profile(user)
        else { throw service.invalidResponse(Message("a user without an ID")) }
        return profile
    }

    // MARK: Images

    /// Returns the client for images, which require the credentials of the account.
    ///
    /// - Parameter find: Finds a photo by its ID, and in albums if the flag is true.
    /// - Returns: The client.
    func images(
        _ find: @escaping @Sendable (PhotoID, Bool) async throws -> FileRecord
    ) -> ImageClient {
        ImageClient(http) { response, url in
            // The file was moved, or is too large for a preview.
            //
            // Source: server 31, `preview_max_filesize_image` with the default 50 MB.
            guard response.status == 404, let id = Self.photo(url),
                let record = try? await find(id, isInAlbum(url)), record.isOriginalUsable
            else { return nil }
            return mapping.original(record)
        } refusal: { response, url in
            // The engine translates other responses.
            guard
                [400, 403, 503].contains(response.status)
                    || response.isSuccess && response.isHTML
            else { return nil }
            return await failure(response, .photo(Self.photo(url) ?? PhotoID("")))
        }
    }

    /// Returns true for an image of a photo that is known only from an album.
    private func isInAlbum(_ url: String) -> Bool {
        ["/remote.php/dav/photos/", "/index.php/apps/photos/"]
            .contains { url.hasPrefix(server.base + $0) }
    }

    /// Returns the photo of an address; nil for an avatar.
    private static func photo(_ url: String) -> PhotoID? {
        guard let address = WebAddress(url) else { return nil }
        let id = address.query.flatMap { URLEncoding.fields($0) }?
            .first { $0.name == "fileId" }?.value
        if let id { return PhotoID(id) }
        let parts = url.prefix { $0 != "?" }.split(separator: "/")
        return parts.dropLast().last == "preview" ? parts.last.map { PhotoID(String($0)) } : nil
    }
}

/// The rule for the files that are shown.
struct FileFilter: Sendable {
    /// The ETag of the user's files before the rule was fetched; nil if it is unknown.
    var tag: String?
    /// The patterns of the user, for paths below the user's files.
    var excluded = PathPatterns(list: "")
    /// The folders with a file `.nomedia` or `.noimage`, with a slash at the end, below the user's files.
    var folders: [String] = []

    /// Returns false for a file in a hidden folder, a hidden file, and a file in the trash of a camera app.
    func shows(_ record: FileRecord) -> Bool {
        guard let path = record.filePath else { return true }
        return !path.split(separator: "/").contains { $0.hasPrefix(".") }
            && !folders.contains(where: path.hasPrefix)
            && !excluded.contains(Array(path.utf8))
    }
}

/// The refusal of a search that the version of the server does not support.
struct UnsupportedSearch: Error {
    /// The error for users if no simpler search succeeds.
    let error: ProviderError
}
