internal import Logging
internal import ProviderKit
internal import Translation
internal import WebService
internal import XML

/// A client for the interfaces of one server.
struct NextcloudClient: Sendable {
    let server: ServerAddress
    let service: Service
    /// The ID of the user, which is part of the paths of files.
    let user: String
    private let ports: SessionPorts
    /// True if photos have the place where they were taken.
    let showsLocation: Bool
    let mapping: ModelMapping

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
        showsLocation = try ports.settings.flag("ShowLocation", of: "nextcloud")
        mapping = ModelMapping(
            server, OmittedImages(server.host, ports.logger, events),
            showsLocation: showsLocation)
        self.ports = ports
    }

    // MARK: WebDAV

    /// Searches the files of the user.
    ///
    /// - Parameters:
    ///   - condition: The condition.
    ///   - order: The property by which the results are ordered, highest first; nil for any order.
    ///   - limit: The maximum number of results.
    ///   - hasMetadata: True if the properties of the app Photos are requested.
    ///   - onlyPositions: True if only the properties are requested that determine the order.
    ///   - subject: The item, for error messages.
    /// - Returns: The results, in any order: servers sort results of several storages again.
    /// - Throws: ``UnsupportedSearch`` if the server does not support a part of the search; ``ProviderError``,
    ///   ``HTTPError``.
    func search(
        _ condition: DAVCondition, by order: String?, limit: Int, hasMetadata: Bool,
        onlyPositions: Bool = false, about subject: Refusal.Subject
    ) async throws -> [FileRecord] {
        let properties =
            onlyPositions
            ? DAVBody.position(hasMetadata: hasMetadata)
            : DAVBody.properties(hasMetadata: hasMetadata, showsLocation: showsLocation)
        let body = DAVBody.search(
            of: user, properties, where: condition, by: order, limit: limit)
        let response = try await exchange(.search, "/remote.php/dav/", body)
        let refusal = refusal(response, subject)
        guard let error = refusal.error else {
            return try await records(response)
        }
        throw refusal.isUnsupportedSearch ? UnsupportedSearch(error: error) : error
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
                about: subject)
            for record in records where part.contains(record.id) { found[record.id] = record }
        }
        return found
    }

    /// Lists the photos of an album, with their paths in the album.
    func photos(of source: NextcloudSource) async throws -> [FileRecord] {
        guard case .album(let name, let isShared) = source else { return [] }
        let path = albumPath(Self.albumFolder(isShared: isShared), name)
        let properties = DAVBody.albumProperties(showsLocation: showsLocation)
        let response = try await exchange(.propfind, path, DAVBody.find(properties), depth: 1)
        if let error = refusal(response, .source(source.id)).error { throw error }
        return try await records(response)
    }

    private static func albumFolder(isShared: Bool) -> String {
        isShared ? "sharedalbums" : "albums"
    }

    private func albumPath(_ folder: String, _ name: String) -> String {
        "/remote.php/dav/photos/\(URLEncoding.escape(user))/\(folder)/\(URLEncoding.escape(name))"
    }

    /// Lists the albums of the user, or those that others share.
    ///
    /// - Returns: The albums; none if the server has no app for them.
    func albums(isShared: Bool) async throws -> [AlbumRecord] {
        let folder = Self.albumFolder(isShared: isShared)
        let response = try await exchange(
            .propfind, albumPath(folder, ""), DAVBody.find("<nc:nbItems/><nc:last-photo/>"),
            depth: 1)
        if [404, 405, 501].contains(response.status) { return [] }
        if let error = refusal(response, .other(Message("list the albums"))).error { throw error }
        // The first response describes the folder.
        return try await read(response) {
            $0.responses.filter { $0.name != folder }.compactMap {
                AlbumRecord($0, isShared: isShared)
            }
        }
    }

    /// Changes a favourite.
    func setFavourite(_ file: FileRecord, _ isFavourite: Bool, _ id: PhotoID) async throws {
        let response = try await exchange(
            .proppatch, relative(file.path),
            DAVBody.favourite(isFavourite))
        if let error = refusal(response, .like(id)).error { throw error }
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
        return try await ports.http.send(request)
    }

    /// Reads a multi-status document off the main thread.
    private func read<Value: Sendable>(
        _ response: HTTPResponse, _ body: @Sendable (MultiStatus) -> Value
    ) async throws -> Value {
        do {
            let value = try await XMLDocument.read(response.body) { MultiStatus($0).map(body) }
            if let value { return value }
        } catch XMLError.unavailable(let reason) {
            throw ProviderError.notSupported(
                Message(
                    "The documents of {server} cannot be read, because {reason}.",
                    ["server": server.host, "reason": reason]))
        } catch {
            ports.logger.debug(
                "Cannot decode a response",
                metadata: [
                    "status": "\(response.status)", "bytes": "\(response.body.count)",
                    "reason": "\(error)",
                ])
        }
        throw service.invalidResponse(Message("an unexpected document"))
    }

    private func records(_ response: HTTPResponse) async throws -> [FileRecord] {
        // A folder of the list has no file ID.
        try await read(response) { $0.responses.compactMap(FileRecord.init) }
    }

    private func refusal(_ response: HTTPResponse, _ subject: Refusal.Subject) -> Refusal {
        Refusal(response, subject, service, now: ports.now())
    }

    // MARK: Users

    /// Fetches the profile of the logged-in user.
    func currentUser() async throws -> Profile {
        var request = HTTPRequest(.get, server.base + "/ocs/v2.php/cloud/user?format=json")
        request.headers.append("OCS-APIRequest", "true")
        request.headers.append("Accept", "application/json")
        let response = try await ports.http.send(request)
        if let error = refusal(response, .user).error { throw error }
        guard let user = response.record?.record("ocs")?.record("data"),
            let profile = mapping.profile(user)
        else { throw service.invalidResponse(Message("a user without an ID")) }
        return profile
    }

    // MARK: Images

    /// Returns the client for images, which require the credentials of the account.
    ///
    /// - Parameter find: Finds a photo by its ID.
    /// - Returns: The client.
    func images(_ find: @escaping @Sendable (PhotoID) async throws -> FileRecord) -> ImageClient {
        ImageClient(ports.http) { response, url in
            // The file was moved, or is too large for a preview.
            //
            // Source: server 31, `preview_max_filesize_image` with the default 50 MB.
            guard response.status == 404, let id = Self.photo(url),
                let record = try? await find(id), record.isOriginalUsable
            else { return nil }
            return mapping.original(record)
        } refusal: { response, url in
            // The engine translates other responses.
            guard [400, 403, 503].contains(response.status) else { return nil }
            return refusal(response, .photo(Self.photo(url) ?? PhotoID(""))).error
        }
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

/// The refusal of a search that the version of the server does not support.
struct UnsupportedSearch: Error {
    /// The error for users if no simpler search succeeds.
    let error: ProviderError
}
