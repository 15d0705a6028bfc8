internal import ProviderKit
internal import Quoting
internal import XML

/// The namespaces of WebDAV at a server.
enum Namespace {
    static let dav = "DAV:"
    static let ownCloud = "http://owncloud.org/ns"
    static let nextcloud = "http://nextcloud.org/ns"

    /// The declarations of the prefixes in requests.
    static let declarations =
        "xmlns:d=\"\(dav)\" xmlns:oc=\"\(ownCloud)\" xmlns:nc=\"\(nextcloud)\" xmlns:ns=\"https://github.com/icewind1991/SearchDAV/ns\""
}

// The bodies of requests.
extension NextcloudClient {
    /// Returns the properties that ``PhotoPosition`` needs.
    func positionProperties(hasMetadata: Bool) -> String {
        "<d:getlastmodified/><oc:fileid/>" + (hasMetadata ? "<\(DAVCondition.dateTaken)/>" : "")
    }

    /// The properties of a photo in an album, whose name is not the property of files.
    ///
    /// Source: photos 8.0, `PropFindPlugin::propFind`. Older versions do not state the path in the user's files.
    var albumProperties: String {
        photoProperties(hasMetadata: true)
            + "<nc:file-name/><d:getcontentlength/><nc:photos-collection-file-original-filename/>"
    }

    /// Returns the properties of a photo.
    ///
    /// - Parameter hasMetadata: True if the server has the properties of the app Photos, which exist since version 28.
    /// - Returns: The elements of the properties.
    func photoProperties(hasMetadata: Bool) -> String {
        var names = [
            "d:displayname", "d:getcontenttype", "d:getetag", "d:getlastmodified", "oc:fileid",
            "oc:favorite", "oc:size", "nc:has-preview",
        ]
        if hasMetadata {
            names += [
                "nc:metadata-photos-original_date_time", "nc:metadata-photos-size",
                "nc:metadata-photos-ifd0", "nc:metadata-blurhash",
            ]
            if mapping.showsLocation { names.append("nc:metadata-photos-gps") }
        }
        return names.map { "<\($0)/>" }.joined()
    }

    /// Returns the body of `PROPFIND`.
    ///
    /// Source: RFC 4918 §14.20.
    func findBody(_ properties: String) -> String {
        document("propfind", "<d:prop>\(properties)</d:prop>")
    }

    /// Returns the body of `PROPPATCH` that changes a favourite.
    ///
    /// Source: RFC 4918 §14.19.
    func favouriteBody(_ isFavourite: Bool) -> String {
        document(
            "propertyupdate",
            "<d:set><d:prop><oc:favorite>\(isFavourite ? 1 : 0)</oc:favorite></d:prop></d:set>")
    }

    /// Returns the body of `SEARCH` in the files of a user.
    ///
    /// - Parameters:
    ///   - folders: The paths of the folders, `/files/ada`. They are not percent-encoded, because a server responds to
    ///     such a scope with status 404.
    ///   - properties: The requested properties.
    ///   - condition: The condition.
    ///   - order: The property by which the results are ordered, highest first; nil for any order.
    ///   - limit: The maximum number of results.
    /// - Returns: The body.
    ///
    /// Source: RFC 5323 §2.
    func searchBody(
        in folders: [String], _ properties: String, where condition: DAVCondition,
        by order: String?, limit: Int
    ) -> String {
        let scopes = folders.map {
            "<d:scope><d:href>\($0.escapedForXML)</d:href><d:depth>infinity</d:depth></d:scope>"
        }
        let order = order.map {
            "<d:orderby><d:order><d:prop><\($0)/></d:prop><d:descending/></d:order></d:orderby>"
        }
        return document(
            "searchrequest",
            """
            <d:basicsearch><d:select><d:prop>\(properties)</d:prop></d:select>\
            <d:from>\(scopes.joined())</d:from>\
            <d:where>\(condition.text)</d:where>\(order ?? "<d:orderby/>")\
            <d:limit><d:nresults>\(limit)</d:nresults></d:limit></d:basicsearch>
            """)
    }

    private func document(_ name: String, _ content: String) -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><d:\(name) \(Namespace.declarations)>\(content)</d:\(name)>"
    }
}

/// A condition of a search.
indirect enum DAVCondition: Hashable, Sendable {
    case all([DAVCondition])
    case any([DAVCondition])
    case undefined(String)
    /// A comparison: `eq`, `lt`, `lte`, `gte` or `like`.
    case comparison(String, property: String, literal: String)

    var text: String {
        switch self {
        case .all(let conditions): "<d:and>\(conditions.map(\.text).joined())</d:and>"
        case .any(let conditions): "<d:or>\(conditions.map(\.text).joined())</d:or>"
        case .undefined(let property):
            "<d:not><d:is-defined><d:prop><\(property)/></d:prop></d:is-defined></d:not>"
        case .comparison(let name, let property, let literal):
            "<d:\(name)><d:prop><\(property)/></d:prop><d:literal>\(literal.escapedForXML)</d:literal></d:\(name)>"
        }
    }

    /// The maximum number of comparisons in a search.
    ///
    /// Source: server 31, `FileSearchBackend::OPERATOR_LIMIT`.
    static let maximumComparisons = 100

    /// The images.
    static let isImage = comparison("like", property: "d:getcontenttype", literal: "image/%")
    /// The files that hide the photos of their folders.
    static let hidesFolder = any(
        [".nomedia", ".noimage"].map {
            comparison("eq", property: "d:displayname", literal: $0)
        })
    /// The favourites.
    static let isFavourite = comparison("eq", property: "oc:favorite", literal: "yes")
    /// The property of the capture date, in seconds since 1970.
    static let dateTaken = "nc:metadata-photos-original_date_time"
    /// The property of the time of the last change of a file.
    static let modified = "d:getlastmodified"

    /// A comparison of the capture date.
    static func taken(_ name: String, _ seconds: Int64) -> DAVCondition {
        comparison(name, property: dateTaken, literal: "\(seconds)")
    }

    /// A comparison of the time of the last change.
    static func modified(_ name: String, _ seconds: Int64) -> DAVCondition {
        let time = Timestamp(secondsSince1970: max(0, seconds))
        return comparison(
            name, property: modified, literal: time.rfc3339.replacing("Z", with: "+00:00"))
    }
}

/// A multi-status document.
///
/// Source: RFC 4918 §13 and §14.16.
struct MultiStatus {
    /// The properties of a file or folder.
    struct Response {
        /// The path at the server, percent-encoded.
        let path: String
        /// The properties with the status 200.
        let properties: XMLElement

        /// Returns the end of a path, for the log.
        static func excerpt(_ path: String) -> String { String(path.suffix(120)) }

        /// The last segment of the path, decoded; nil if it is not valid.
        var name: String? {
            path.split(separator: "/").last.flatMap { URLEncoding.bytes($0) }
                .flatMap { String(validating: $0, as: UTF8.self) }
        }
    }

    /// The files and folders that can be read.
    let responses: [Response]
    /// The number of files and folders that the server lists.
    let count: Int
    /// The ends of the paths of files and folders that cannot be read.
    let unreadable: [String]
    /// The lowest status of 400 or above of a property or file; nil if there is none.
    let failure: Int?

    /// Reads a document; nil if the root is not a multi-status element.
    init?(_ root: XMLElement) {
        guard root.name == "multistatus", root.namespace == Namespace.dav else { return nil }
        var failures: [Int] = []
        var unreadable: [String] = []
        let all = root.children("response", in: Namespace.dav)
        count = all.count
        responses = all.compactMap { response in
            let parts = response.children("propstat", in: Namespace.dav)
            failures += ([response] + parts).compactMap(Self.status).filter { $0 >= 400 }
            let path = response.child("href", in: Namespace.dav)?.text ?? ""
            guard let part = parts.first(where: { Self.status($0) == 200 }) else {
                // The file of a photo in an album may be gone, but not one with a status of its own.
                if Self.status(response) != nil { unreadable.append(Response.excerpt(path)) }
                return nil
            }
            guard Self.isPath(path), let properties = part.child("prop", in: Namespace.dav) else {
                unreadable.append(Response.excerpt(path))
                return nil
            }
            return Response(path: path, properties: properties)
        }
        self.unreadable = unreadable
        failure = failures.min()
    }

    /// Returns the number of a status line, `HTTP/1.1 200 OK`.
    private static func status(_ element: XMLElement) -> Int? {
        let words = element.child("status", in: Namespace.dav)?.text.split(separator: " ")
        return words.flatMap { $0.count > 1 ? Int($0[1]) : nil }
    }

    /// Returns true for an absolute path that can be part of an address.
    private static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && !text.hasPrefix("//")
            && text.utf8.allSatisfy { 0x21...0x7e ~= $0 && !"?#\"\\<>".utf8.contains($0) }
            && !text.split(separator: "/").contains { $0 == "." || $0 == ".." }
            && text.utf8.count <= maximumLength
    }

    /// The maximum length of a path: 4,000 characters and a name of 250, each percent-encoded with at most 9 bytes, below
    /// the path of the server.
    ///
    /// Source: server 31, `filecache` in `core/Migrations/Version13000Date20170718121200.php`.
    private static let maximumLength = 40_000
}
