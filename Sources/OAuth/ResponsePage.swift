internal import Quoting
internal import Translation

/// A response to a browser: a small page without resources, which closes the connection.
nonisolated package struct ResponsePage: Sendable {
    private let status: String
    private let title: String
    private let text: String
    private var headers: [String] = []
    private var hasBody = true

    private init(_ status: String, _ title: String, _ text: String) {
        self.status = status
        self.title = title
        self.text = text
    }

    /// The page for a login that succeeded.
    package static let loggedIn = ResponsePage(
        "200 OK", tr("You are logged in"), tr("You can close this tab."))
    /// The page for a user who denied access.
    package static let denied = ResponsePage(
        "200 OK", tr("You denied access"),
        tr("Image Feed did not get access to your account. You can close this tab."))

    /// Returns the page for a login that failed.
    ///
    /// - Parameter reason: A sentence in the language of the user. It is untrusted, and shown as text.
    /// - Returns: The page.
    package static func failed(_ reason: String) -> ResponsePage {
        ResponsePage("200 OK", tr("You are not logged in"), plain(reason))
    }

    /// The page for a login that takes longer than a browser should wait.
    static let unsettled = ResponsePage(
        "200 OK", tr("Almost done"),
        tr("The login is still in progress. Your desktop shows the result."))
    static let noAnswer = ResponsePage(
        "400 Bad Request", tr("There is no login"),
        tr("No login expects this response. Start the login again."))
    static let malformed = ResponsePage("400 Bad Request", tr("Bad request"), "")
    static let notFound = ResponsePage("404 Not Found", tr("Page not found"), "")
    static let wrongHost = ResponsePage("421 Misdirected Request", tr("Page not found"), "")
    static let tooLarge = ResponsePage(
        "431 Request Header Fields Too Large", tr("The request is too large"), "")
    /// The page for a prefetching browser, which sends another request when the user opens the page.
    static let notNow = ResponsePage("503 Service Unavailable", tr("Try again later"), "")

    static func wrongMethod(hasBody: Bool) -> ResponsePage {
        var page = ResponsePage("405 Method Not Allowed", tr("Page not found"), "")
        page.headers = ["Allow: GET"]
        page.hasBody = hasBody
        return page
    }

    /// The complete response, less than 8 KiB. The page loads and sends nothing, so the code in its address stays in
    /// the browser.
    var bytes: [UInt8] {
        let html = Array(html.utf8)
        let head =
            [
                "HTTP/1.1 \(status)", "Content-Type: text/html; charset=utf-8",
                "Content-Length: \(html.count)", "Connection: close", "Cache-Control: no-store",
                "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; "
                    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                "Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff",
            ] + headers + ["", ""]
        return Array(head.joined(separator: "\r\n").utf8) + (hasBody ? html : [])
    }

    private var html: String {
        // Translators: the code of your language, such as “de” or “pt-BR”
        let language = tr("en")
        return """
            <!doctype html>
            <html lang="\(language.escapedForXML)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title.escapedForXML) – Image Feed</title>
            <style>
            :root { color-scheme: light dark; font: 1.125rem/1.5 system-ui, sans-serif; }
            body { max-width: 32rem; margin: 20vh auto; padding: 0 1.5rem; }
            h1 { font-size: 1.75rem; line-height: 1.2; }
            </style>
            </head>
            <body>
            <h1>\(title.escapedForXML)</h1>
            <p>\(text.escapedForXML)</p>
            </body>
            </html>

            """
    }
}
