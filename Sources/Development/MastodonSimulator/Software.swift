/// A server software and the differences of its API dialect from that of Mastodon. Each dialect is one value of
/// ``all``.
package struct Software: Sendable {
    /// The name, in lower case.
    package let name: String
    /// The version in the instance documents.
    package let version: String
    var instance = InstanceDocuments.both
    /// True if the server describes its authorization server (RFC 8414).
    var hasServerDocument = false
    /// True if the server checks the code verifier (RFC 7636).
    var checksVerifier = false
    package var redirects = RedirectRule.exactLine
    /// True if the server can show a code instead of redirecting.
    package var showsCode = true
    /// True if the server supports scopes such as `read:accounts`.
    package var hasGranularScopes = true
    /// True if the server counts the requests of each token and sends the rate limit.
    package var countsRequests = true
    var tokenRefusal = TokenRefusal.doorkeeper
    package var codeRefusal = CodeRefusal.invalidGrant
    /// True if the error for an unknown application differs from that for an unknown code.
    package var revealsUnknownClients = true
    var refreshRefusal = RefreshRefusal.invalidGrant
    /// The lifetime of access tokens; nil if they do not expire.
    var tokenLifetimeSeconds: Int?
    /// True if another login of a user returns the token that the application already has.
    var reusesTokens = false
    /// True if another login of a user invalidates the token that the application already has.
    var replacesTokens = false
    /// True if the token response has `scope` and `created_at`.
    var describesTokens = true
    package var revocation = Revocation.token
    /// True if sizes and counts are sent as text.
    var sendsNumbersAsText = false

    /// The instance documents of a server.
    enum InstanceDocuments: Sendable {
        case both
        /// The second version has status 404.
        case firstOnly
        /// The second version has status 500.
        case secondFails
        /// Both require a login; NodeInfo is public.
        case closed
    }

    /// The rule by which the redirect address of a login is compared with the registered addresses.
    package enum RedirectRule: Sendable {
        /// One address in each line; the port of a loopback address is ignored.
        case anyPort
        /// One address in each line.
        case exactLine
        /// Addresses separated by spaces. The browser is redirected to the whole registered text.
        case exactWord
        /// The whole registered text is one address.
        case whole
        /// Any address, registered or not.
        case unchecked
    }

    /// The response to a request with an invalid token.
    enum TokenRefusal: Sendable {
        case doorkeeper
        /// 500, or a redirect to the login page.
        case laravel
        /// 403, as for a token without the permission, with a text.
        case forbidden(String)
        /// 401 with an empty HTML page, and the version in a field.
        case emptyPage
        /// 400 with plain text.
        case badRequest
        /// 401 with an object as error.
        case misskey
    }

    /// The response to an invalid code.
    package enum CodeRefusal: Sendable {
        case invalidGrant
        /// 401 with an error that OAuth does not define.
        case unauthorized
        /// 400, as for an unknown client.
        case invalidCredentials
        /// 500 with an HTML page.
        case crash
        /// The code is ignored: the token belongs to the user of the latest login.
        case none
    }

    /// The response to an invalid refresh token.
    enum RefreshRefusal: Sendable {
        case invalidGrant
        /// 401 with `invalid_request`.
        case invalidRequest
        /// 400 with an error that OAuth does not define.
        case invalidCredentials
    }

    /// The endpoint that revokes tokens.
    package enum Revocation: Sendable {
        case none
        case token
        /// The application is deleted together with its token.
        case application
        /// All tokens of the application are revoked with its token.
        case allTokens
    }
}

extension Software: Equatable {
    package static func == (left: Software, right: Software) -> Bool { left.name == right.name }
}

// MARK: - Dialects

extension Software {
    package static let all = [
        mastodon, oldMastodon, closedMastodon, pixelfed, goToSocial, friendica, akkoma, snac,
        takahe,
        iceshrimp, sharkey,
    ]

    /// Source: docs.joinmastodon.org, recorded responses of 4.6.4; Doorkeeper 5.8.
    package static let mastodon = Software(
        name: "mastodon", version: "4.6.4", hasServerDocument: true, checksVerifier: true,
        redirects: .anyPort, reusesTokens: true)

    /// Before 4.3: no authorization server metadata, and PKCE is ignored.
    package static let oldMastodon = Software(
        name: "old mastodon", version: "4.2.10", redirects: .anyPort, reusesTokens: true)

    /// A server with limited federation: `LIMITED_FEDERATION_MODE`.
    package static let closedMastodon = Software(
        name: "closed mastodon", version: "4.6.4+glitch", instance: .closed,
        hasServerDocument: true, checksVerifier: true, redirects: .anyPort, reusesTokens: true)

    /// Source: pixelfed 0.11.13; league/oauth2-server 8.
    package static let pixelfed = Software(
        name: "pixelfed", version: "3.5.3 (compatible; Pixelfed 0.11.13)", instance: .firstOnly,
        checksVerifier: true, redirects: .exactLine, showsCode: false, hasGranularScopes: false,
        countsRequests: false, tokenRefusal: .laravel, refreshRefusal: .invalidRequest,
        tokenLifetimeSeconds: 31_536_000, describesTokens: false, revocation: .none)

    /// The last page of the home timeline repeats statuses (`ServerState.list`).
    ///
    /// Source: gotosocial 0.17, `AppCreate`, `toMastodonVersion`; 0.20, `internal/cache/timeline/status.go`.
    package static let goToSocial = Software(
        name: "gotosocial", version: "3.5.3+0.17.3-git-8d0b5ba", redirects: .whole)

    /// Source: friendica 2024.12, `Security/OAuth.php`, `Module/OAuth`; `Module/OAuth/Revoke.php` deletes the tokens by
    /// the ID of the application; `Module/BaseApi.php` and `Factory/Api/Mastodon/Error.php` for an invalid token.
    package static let friendica = Software(
        name: "friendica", version: "2.8.0 (compatible; Friendica 2024.12-1571)",
        redirects: .exactWord, hasGranularScopes: false, countsRequests: false,
        tokenRefusal: .forbidden(
            "Token is not authorized with a valid user or is missing a required scope"),
        codeRefusal: .unauthorized, replacesTokens: true, revocation: .allTokens,
        sendsNumbersAsText: true)

    /// Source: akkoma 3.13, `OAuthScopesPlug`, `OAuthController`.
    package static let akkoma = Software(
        name: "akkoma", version: "2.7.2 (compatible; Akkoma 3.13.2-0-g050bc744)",
        instance: .firstOnly, tokenRefusal: .forbidden("Invalid credentials."),
        codeRefusal: .invalidCredentials,
        revealsUnknownClients: false, refreshRefusal: .invalidCredentials,
        tokenLifetimeSeconds: 2_592_000)

    /// Attachments have addresses as IDs, and neither a size nor a preview (`mastoapi_status`); only the home timeline
    /// has a `Link` field; there is no list of likes (`mastoapi_get_handler`); errors are HTML (`httpd_connection`).
    ///
    /// Source: snac 2.75, `mastoapi.c` and `httpd.c`, as in Debian 13.
    package static let snac = Software(
        name: "snac", version: "4.0.0 (not true; really snac/2.75)", instance: .firstOnly,
        redirects: .unchecked, countsRequests: false, tokenRefusal: .emptyPage, codeRefusal: .none,
        revocation: .application)

    /// `only_media` selects the statuses without media.
    ///
    /// Source: takahe 0.11, `api/views/oauth.py`, `api/middleware.py`, `api/views/timelines.py`.
    package static let takahe = Software(
        name: "takahe", version: "takahe/0.11.0", redirects: .whole, countsRequests: false,
        tokenRefusal: .badRequest, codeRefusal: .crash, revealsUnknownClients: false)

    /// Source: Iceshrimp.NET 2024.1, `AuthController`.
    package static let iceshrimp = Software(
        name: "iceshrimp", version: "4.2.1 (compatible; Iceshrimp.NET/2024.1-beta5)",
        codeRefusal: .unauthorized, revealsUnknownClients: false)

    /// Source: Sharkey 2025.4, `MastodonApiServerService`.
    package static let sharkey = Software(
        name: "sharkey", version: "3.0.0 (compatible; Sharkey 2025.4.2; like Akkoma)",
        instance: .secondFails, hasGranularScopes: false, countsRequests: false,
        tokenRefusal: .misskey)
}

extension Software: CustomStringConvertible {
    package var description: String { name }
}
