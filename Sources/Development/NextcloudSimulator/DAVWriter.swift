internal import Quoting
internal import ServiceSimulator
internal import XML

/// Writes multi-status documents, as a user receives them.
struct DAVWriter {
    let state: ServerState
    let viewer: String

    private static let namespaces = """
        xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns" xmlns:oc="http://owncloud.org/ns" \
        xmlns:nc="http://nextcloud.org/ns"
        """
    private static let prefixes = [
        "DAV:": "d", "http://owncloud.org/ns": "oc", "http://nextcloud.org/ns": "nc",
    ]

    static func multiStatus(_ responses: [String]) -> Reply {
        let text =
            "<?xml version=\"1.0\"?>\n<d:multistatus \(namespaces)>\(responses.joined())</d:multistatus>"
        return Reply(
            207, headers: [("Content-Type", "application/xml; charset=utf-8")],
            body: Array(text.utf8))
    }

    /// An error document.
    static func error(_ status: Int, _ exception: String, _ message: String) -> Reply {
        let text = """
            <?xml version="1.0" encoding="utf-8"?>
            <d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns">
              <s:exception>\(exception.escapedForXML)</s:exception>
              <s:message>\(message.escapedForXML)</s:message>
            </d:error>
            """
        return Reply(
            status, headers: [("Content-Type", "application/xml; charset=utf-8")],
            body: Array(text.utf8))
    }

    /// Writes a response with the known properties, and the names of the unknown ones.
    func response(
        _ href: String, _ names: [XMLElement], _ value: (String) -> String?
    ) -> String {
        var known = ""
        var unknown = ""
        for element in names {
            let name = "\(Self.prefixes[element.namespace] ?? "d"):\(element.name)"
            if let content = value(element.name) {
                known += "<\(name)>\(content)</\(name)>"
            } else {
                unknown += "<\(name)/>"
            }
        }
        let parts = [("200 OK", known), ("404 Not Found", unknown)].filter { !$0.1.isEmpty }
        return "<d:response><d:href>\(href)</d:href>"
            + parts.map {
                "<d:propstat><d:prop>\($0.1)</d:prop><d:status>HTTP/1.1 \($0.0)</d:status></d:propstat>"
            }.joined() + "</d:response>"
    }

    /// Writes the response of a file.
    func file(
        _ file: SimulatedFile, at href: String, _ names: [XMLElement], isInAlbum: Bool = false
    ) -> String {
        response(href, names) { name in
            switch name {
            case "displayname": return isInAlbum ? nil : file.name.escapedForXML
            case "file-name": return isInAlbum ? file.name.escapedForXML : nil
            case "getcontenttype": return file.mediaType
            case "size": return isInAlbum ? nil : "\(file.sizeBytes)"
            case "getcontentlength": return isInAlbum ? "\(file.sizeBytes)" : nil
            case "photos-collection-file-original-filename":
                let isOwn = file.owner == nil || file.owner == viewer
                return isInAlbum && isOwn && state.version.statesOriginalPaths
                    ? "/" + file.path.escapedForXML : nil
            case "getetag": return "&quot;\(file.id)a\(file.modified.secondsSince1970)&quot;"
            case "getlastmodified": return file.modified.http
            case "fileid": return "\(file.id)"
            case "favorite":
                return state.favourites[viewer, default: []].contains(file.id) ? "1" : "0"
            case "has-preview": return "\(file.hasPreview)"
            default: return state.version.hasMetadata ? metadata(name, file) : nil
            }
        }
    }

    private func metadata(_ name: String, _ file: SimulatedFile) -> String? {
        // The properties exist as soon as the server has read the file.
        guard let taken = file.taken else { return nil }
        switch name {
        case "metadata-photos-original_date_time": return "\(taken.secondsSince1970)"
        case "metadata-photos-size":
            guard let width = file.width, let height = file.height else { return nil }
            return "<width>\(width)</width><height>\(height)</height>"
        case "metadata-photos-ifd0":
            guard let make = file.make, let model = file.model else { return nil }
            return "<Make>\(make.escapedForXML)</Make><Model>\(model.escapedForXML)</Model>"
        case "metadata-photos-gps":
            guard let latitude = file.latitude, let longitude = file.longitude else { return nil }
            return "<latitude>\(latitude)</latitude><longitude>\(longitude)</longitude>"
        case "metadata-blurhash": return file.blurHash?.escapedForXML
        default: return nil
        }
    }
}
