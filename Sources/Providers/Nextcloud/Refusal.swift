internal import FoundationEssentials
internal import ProviderKit
internal import Quoting
internal import XML

/// The item of a request, for error messages.
enum Subject: Hashable, Sendable {
    case photo(PhotoID)
    case like(PhotoID)
    case source(SourceID)
    case albums
    case user
}

/// A translation of a response with an error status, or of an HTML page, to a ``ProviderError``.
struct Refusal {
    let response: HTTPResponse
    /// The server for messages.
    let server: String
    let now: Timestamp

    /// Returns the error of a response to a request for an item; nil for a success.
    func error(_ subject: Subject) -> ProviderError? {
        if let generalError { return generalError }
        switch response.status {
        case 200..<300: return isPage ? Self.invalidResponse("an HTML page", server) : nil
        case 401: return .unauthorized
        case 403: return forbidden(subject)
        case 404, 410: return missing(subject)
        case 423: return .failed("The file is locked at \(server); try again later.")
        case _ where isPage: return Self.invalidResponse("an HTML page", server)
        case 405, 501:
            return .notSupported("\(server) does not support the request; update the server.")
        default:
            return .failed(
                "\(server) rejected the request with status \(response.status)\(quoted); try again later."
            )
        }
    }

    /// The error of a response that does not depend on the request; nil if there is none.
    var generalError: ProviderError? {
        switch response.status {
        case 503 where response.headers["X-Nextcloud-Maintenance-Mode"] == "1":
            Self.maintenance(server)
        case 429:
            // The response of the protection against brute force attacks states no time.
            .rateLimited(
                until: response.retryAfter(now: now).map { now + min($0, .seconds(86_400)) })
        case 400 where mentionsTrustedDomain:
            .failed(
                "\(server) does not trust its address; add it to trusted_domains in the configuration of the server, or log in with another address."
            )
        case 500...599 where !isFailedSearch:
            .failed("\(server) failed with status \(response.status); try again later.")
        default: nil
        }
    }

    /// True if the server does not support a part of a search, such as a property of a newer version.
    var isUnsupportedSearch: Bool {
        [400, 422, 501].contains(response.status) && !mentionsTrustedDomain && !isPage
            || isFailedSearch
    }

    /// True if the response is the failure of an invalid search.
    private var isFailedSearch: Bool {
        guard response.status == 500, let document else { return false }
        // Versions 29.0.0 to 29.0.11 and 30.0.0 to 30.0.5 have a TypeError for each condition about metadata:
        // nextcloud/server #45253, corrected by #50273.
        let exception = document.child("exception")?.text ?? ""
        return exception.hasSuffix("InvalidArgumentException") || exception == "TypeError"
    }

    /// True if the body is HTML, which the interfaces do not send. The documents of WebDAV begin with `<` as well.
    private var isPage: Bool {
        if response.headers["Content-Type"]?.lowercased().contains("html") == true { return true }
        let start = String(decoding: response.body.prefix(64), as: UTF8.self).lowercased()
        return start.contains("<!doctype html") || start.contains("<html")
    }

    private var mentionsTrustedDomain: Bool {
        String(decoding: response.body.prefix(64 << 10), as: UTF8.self).lowercased()
            .contains("trusted domain")
    }

    private func forbidden(_ subject: Subject) -> ProviderError {
        guard case .like = subject else {
            return .denied("\(server) does not allow the request\(quoted).")
        }
        return .refused("\(server) does not let this account change favourites\(quoted).")
    }

    private func missing(_ subject: Subject) -> ProviderError {
        switch subject {
        case .photo(let id), .like(let id): Self.missing(id, server)
        case .source(let id):
            switch NextcloudSource(id) {
            case .album, .sharedAlbum, nil:
                .notFound("There is no source \(id.text.quoted) at \(server).")
            case .all, .likes, .memories:
                Self.invalidResponse("status \(response.status)", server)
            }
        case .albums, .user: Self.invalidResponse("status \(response.status)", server)
        }
    }

    static func missing(_ id: PhotoID, _ server: String) -> ProviderError {
        .notFound("There is no photo \(id.text.quoted) at \(server).")
    }

    static func maintenance(_ server: String) -> ProviderError {
        .failed("\(server) is in maintenance mode; try again later.")
    }

    static func invalidResponse(_ reason: String, _ server: String) -> ProviderError {
        .failed(
            "\(server) sent an invalid response (\(reason)); check the address of the server, or try again later."
        )
    }

    private var quoted: String { ServiceText.parenthesized(document?.child("message")?.text) }

    /// The error document of WebDAV; nil for another body.
    private var document: XMLElement? {
        guard !isPage, response.body.count <= 64 << 10 else { return nil }
        return try? XMLDocument.parse(response.body)
    }
}
