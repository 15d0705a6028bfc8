internal import ProviderKit
internal import WebService
internal import XML

extension Refusal {
    /// The exceptions of WebDAV for a token that is not valid. Other interfaces answer alike for a disabled account.
    static let tokenExceptions = ["NotAuthenticated", "PasswordLoginForbidden"]

    /// The error; nil for a success.
    var error: ProviderError? {
        if isPage, response.hasStatusOfGateway { return page }
        if let generalError { return generalError }
        switch response.status {
        case 200..<300: return isPage ? page : nil
        case 300..<400: return otherLogin
        case 401: return Self.tokenExceptions.contains(where: mentions) ? .unauthorized : otherLogin
        case 403: return forbidden
        case _ where isPage: return page
        case 404, 410: return missing
        case 423:
            return .failed(service.tr("The file is locked at {service}; try again later."))
        case 405, 501:
            return .notSupported(
                service.tr("{service} does not support the request; update the server."))
        default:
            return .failed(
                service.tr(
                    "{service} rejected the request with status {status}{details}; try again later.",
                    ["status": "\(response.status)", "details": quoted]))
        }
    }

    /// The error of a response that does not depend on the request; nil if there is none.
    var generalError: ProviderError? {
        switch response.status {
        // WebDAV has no header field. The exception is part of the message, or the exception itself.
        //
        // Source: server 31, `Connector/Sabre/MaintenancePlugin.php`, `Auth.php`, and `lib/base.php` for pages.
        case 503
        where response.headers["X-Nextcloud-Maintenance-Mode"] == "1"
            || mentions("ServerMaintenanceMode"):
            maintenance
        case 400... where mentions("DisabledUserException"):
            .failed(
                service.tr(
                    "The account at {service} is disabled; ask the administrator of the server."))
        case 429:
            // The response of the protection against brute force attacks states no time.
            .rateLimited(until: retryTime)
        case 400 where mentions("trusted domain"):
            .failed(
                service.tr(
                    "{service} does not trust its address; add it to trusted_domains in the configuration of the server, or log in with another address."
                ))
        case 500...599 where !isFailedSearch: serviceFailure
        default: nil
        }
    }

    /// True if the server does not support a part of a search, such as a property of a newer version.
    var isUnsupportedSearch: Bool {
        [400, 422, 501].contains(response.status) && !mentions("trusted domain") && !isPage
            || isFailedSearch
    }

    /// True if the server may support only one folder in a search. Another part of the search can have the same response.
    var isUnsupportedScope: Bool { response.status == 501 || isFailedSearch }

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

    private func mentions(_ text: String) -> Bool {
        String(decoding: response.body.prefix(64 << 10), as: UTF8.self).lowercased()
            .contains(text.lowercased())
    }

    private var forbidden: ProviderError {
        guard case .like = subject else {
            return .denied(
                service.tr(
                    "{service} does not allow the request{details}.", ["details": quoted]))
        }
        return .refused(
            service.tr(
                "{service} does not let this account change favourites{details}.",
                ["details": quoted]))
    }

    private var missing: ProviderError {
        switch subject {
        case .photo(let id), .like(let id): return service.missing(id)
        case .source(let id):
            switch NextcloudSource(id)?.kind {
            case .album, .shared, nil: return service.missing(id)
            case .all, .likes, .memories: return unexpectedStatus
            }
        case .user, .other: return unexpectedStatus
        }
    }

    private var maintenance: ProviderError {
        .failed(service.tr("{service} is in maintenance mode; try again later."))
    }

    /// Returns the error of a server whose `status.php` says that it answers no requests now; nil for others.
    func problem(_ status: ServiceRecord?) -> ProviderError? {
        if status?.flag("maintenance") == true { return maintenance }
        guard status?.flag("needsDbUpgrade") == true else { return nil }
        return .failed(
            service.tr(
                "{service} is being upgraded; try again when its administrator has finished."))
    }

    private var quoted: String { ServiceText.parenthesized(document?.child("message")?.text) }

    /// The error document of WebDAV; nil for another body.
    private var document: XMLElement? {
        guard !isPage, response.body.count <= 64 << 10 else { return nil }
        return try? XMLDocument.parse(response.body)
    }
}
