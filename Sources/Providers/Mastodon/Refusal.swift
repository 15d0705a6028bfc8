internal import ProviderKit
internal import WebService

// The status determines the error. Error texts are translated to the user's language, so they are only quoted, with the
// exception of `lacksPermission`.
extension Refusal {
    /// The error; nil for a success.
    var error: ProviderError? {
        switch response.status {
        // An empty page.
        case 401 where isOfSnac: .unauthorized
        case _ where response.isOtherLogin: page
        case 200..<300: nil
        // Source: mastodon 4.6.4, gotosocial 0.20 and takahe 0.11: `error`; pixelfed 0.11: `message`, of Laravel.
        case 401: hasOwnForm ? .unauthorized : otherLogin
        // Takahē.
        case 400 where startsWith("Invalid Bearer token"): .unauthorized
        // Pixelfed, in 2025.
        case 500 where text?.hasPrefix("Unauthenticated") == true: .unauthorized
        case 429: rateLimitError
        case 403: forbiddenError
        case 404, 410: response.isHTML && !isOwnPage ? page : notFound
        case 400, 422: rejection(quoted)
        case 500...: serviceFailure
        default: unexpectedStatus
        }
    }

    /// True for a response of snac, which sends the same page for every missing item.
    ///
    /// Source: snac 2.75, `httpd_connection`.
    private var isOfSnac: Bool { response.headers["X-Creator"]?.hasPrefix("snac/") == true }

    /// True if the server itself sent the HTML page for a missing item, and not a gateway before it.
    ///
    /// Source: friendica at 81af728, `generate` of `Module/Response.php`; takahe at 002276a, `templates/base.html`, the
    /// base of `templates/404.html`.
    private var isOwnPage: Bool {
        isOfSnac || response.headers["X-Response-Type"] == "html"
            || String(decoding: response.body.prefix(4096), as: UTF8.self).contains("js/takahe.")
    }

    private var rateLimitError: ProviderError {
        let reset = RateLimit(response.headers, now: now)?.reset
        // Without rate limit fields, this is the daily limit of likes of Pixelfed, which does not affect other
        // requests.
        if case .like = subject, reset == nil, response.headers["Retry-After"] == nil {
            return .failed(
                service.tr("{service} accepts no more likes for now; they are sent later."))
        }
        return .rateLimited(until: retryTime ?? reset)
    }

    private var forbiddenError: ProviderError {
        // This request depends only on the token.
        if case .user = subject { return .unauthorized }
        // Any other reason concerns only this photo: the login requested the permission to like.
        if case .like = subject, !lacksPermission { return refusedLike(quoted) }
        return .denied(
            service.tr(
                "{service} does not allow this account to {action}{details}.",
                ["details": quoted], messages: ["action": action]))
    }

    /// True if the token lacks a scope. Unlike other error texts, these texts are not translated.
    ///
    /// Source: `doorkeeper_forbidden_render_options` of Mastodon; `OAuthScopesPlug` of Pleroma; `scope_required` of
    /// Takahē.
    private var lacksPermission: Bool {
        guard let text else { return false }
        return text == "This action is outside the authorized scopes"
            || text.hasPrefix("Insufficient permissions") || text == "out_of_scope_for_token"
    }

    private var quoted: String { ServiceText.parenthesized(text) }

    private func startsWith(_ text: String) -> Bool { response.body.starts(with: text.utf8) }

    /// True if the body is an error of the API, or begins with one (WordPress).
    private var hasOwnForm: Bool {
        text != nil || response.record?.record("error") != nil || startsWith(#"{"error":"#)
    }

    private var text: String? {
        let record = response.record
        return record?.text("error") ?? record?.text("message")
    }
}

extension RateLimit {
    /// Reads the remaining requests and the time of the reset.
    ///
    /// Source: docs.joinmastodon.org/api/rate-limits. The time is ISO 8601, in the clock of the server.
    init?(_ headers: HTTPHeaders, now: Timestamp) {
        self.init(headers)
        guard let reset = headers["X-RateLimit-Reset"].flatMap({ Timestamp(rfc3339: $0) }) else {
            return
        }
        // Converts to the local clock, and rounds up the dropped fraction.
        let date = headers["Date"].flatMap { Timestamp(httpDate: $0) } ?? now
        self.reset = now + .seconds(1 + reset.secondsSince1970 - date.secondsSince1970)
    }
}
