internal import ServiceSimulator

/// Client registration, login and tokens.
///
/// Source: docs.joinmastodon.org/methods/apps and /methods/oauth, recorded responses; Doorkeeper 5.8; for Pixelfed
/// league/oauth2-server.
extension ServerState {
    static let outOfBand = "urn:ietf:wg:oauth:2.0:oob"

    mutating func register(_ request: RecordedRequest) -> Reply {
        let fields = request.fields
        let text = fields["redirect_uris"] ?? ""
        let uris = text.split(whereSeparator: \.isNewline).map(String.init)
        let scopes = (fields["scopes"] ?? "read").split(separator: " ").map(String.init)
        guard fields["client_name"]?.isEmpty == false, !uris.isEmpty,
            uris.allSatisfy({ $0.contains(":") })
        else {
            return error(
                422, "Validation failed: Redirect URI must be an absolute URI.", "入力値に誤りがあります")
        }
        guard !software.hasGranularScopes || scopes.allSatisfy(Self.scopes.contains) else {
            return error(
                422, "Validation failed: Scopes doesn't match configured on the server.", "誤り")
        }
        registrations += 1
        let id = software == .pixelfed ? "\(registrations)" : "client-\(name)-\(registrations)"
        let secret = "secret-of-\(name)-\(registrations)-\(nextID())"
        applications[id] = Application(
            secret: secret, redirectURIs: registered(text, uris),
            scopes: scopes)
        let joined = JSON.string(uris.joined(separator: "\n"))
        var document: JSON = [
            "id": .string("\(registrations)"), "name": .string(fields["client_name"]),
            "website": .string(fields["website"]),
        ]
        if software.hasServerDocument {
            document =
                document + [
                    "scopes": .array(scopes.map { .string($0) }),
                    "redirect_uris": .array(uris.map { .string($0) }),
                ]
        }
        let clientID: JSON = software == .pixelfed ? .integer(registrations) : .string(id)
        document =
            document + [
                "vapid_key": .null, "redirect_uri": joined,
                "client_id": clientID,
                "client_secret": .string(secret),
            ]
        if software.hasServerDocument {
            document = document + ["client_secret_expires_at": 0]
        }
        return Reply(200, json: document)
    }

    /// Returns the redirect addresses that the software reads from the registration.
    private func registered(_ text: String, _ lines: [String]) -> [String] {
        switch software.redirects {
        case .anyPort: lines
        // Pixelfed joins several addresses into one text, which equals none of them.
        case .exactLine: software == .pixelfed ? [lines.joined(separator: "\\n")] : lines
        case .exactWord: text.split(separator: " ").map(String.init)
        case .whole, .unchecked: [text]
        }
    }

    mutating func oauthReply(_ request: RecordedRequest) -> Reply {
        switch (request.method, request.path) {
        case ("GET", "/oauth/authorize"):
            return authorizationError(request)
                ?? Page.consent(
                    request, users: users.keys.sorted(), scopes: scopes(request.fields), of: name)
        case ("POST", "/oauth/authorize"):
            return authorizationError(request) ?? decide(request)
        case ("GET", "/oauth/authorize/native"):
            return Reply(
                200,
                html: Page.document(
                    "<code id=\"code\">\(Page.escape(request.query["code"]))</code>", of: name))
        case ("POST", "/oauth/token"): return grantToken(request)
        case ("POST", "/oauth/revoke") where software.revocation != .none: return revoke(request)
        default: return Reply(404, html: Page.document("<h1>Not found</h1>", of: name))
        }
    }

    // MARK: Authorization

    private func authorizationError(_ request: RecordedRequest) -> Reply? {
        let fields = request.fields
        guard let application = applications[fields["client_id"] ?? ""] else {
            return .invalidClient
        }
        guard let uri = fields["redirect_uri"], accepts(uri, application) else {
            if software == .pixelfed { return .invalidClient }
            if software == .friendica {
                return Reply(422, json: ["error": "Unprocessable Entity"])
            }
            return Reply(
                400, html: Page.document("The redirect uri included is not valid.", of: name))
        }
        let isKnown =
            software.hasGranularScopes
            ? Set(scopes(fields)).isSubset(of: application.scopes)
            : Set(scopes(fields)).isSubset(of: ["read", "write", "follow", "push"])
        guard isKnown else {
            // Pixelfed does not return the state with this error.
            let state = software == .pixelfed ? [] : [(name: "state", value: fields["state"] ?? "")]
            return .redirect(
                to: "\(uri)?" + FormFields.encode([(name: "error", value: "invalid_scope")] + state)
            )
        }
        return nil
    }

    /// Returns true if a redirect address is registered, by the rule of the software.
    private func accepts(_ uri: String, _ application: Application) -> Bool {
        if application.redirectURIs.contains(uri) || software.redirects == .unchecked {
            return true
        }
        guard software.redirects == .anyPort, uri.hasPrefix("http://127.0.0.1") else {
            return false
        }
        func withoutPort(_ uri: String) -> String {
            let parts = uri.dropFirst("http://127.0.0.1".count)
            return parts.hasPrefix(":") ? String(parts.drop { $0 != "/" }) : String(parts)
        }
        return application.redirectURIs.contains {
            $0.hasPrefix("http://127.0.0.1") && withoutPort($0) == withoutPort(uri)
        }
    }

    private func scopes(_ fields: FormFields) -> [String] {
        let scopes = (fields["scope"] ?? "").split(separator: " ").map(String.init)
        return scopes.isEmpty ? ["read"] : scopes
    }

    private mutating func decide(_ request: RecordedRequest) -> Reply {
        let fields = request.fields
        let uri = fields["redirect_uri"] ?? ""
        var parameters = [(name: "error", value: "access_denied")]
        if fields["decision"] == "approve", let username = fields["username"],
            users[username] != nil
        {
            var grant = TokenStore.Grant(username: username, scopes: scopes(fields))
            grant.client = fields["client_id"] ?? ""
            let code = tokens.makeCode(
                grant, redirectURI: uri,
                challenge: software.checksVerifier ? fields["code_challenge"] : nil, now: now)
            applications[grant.client]?.lastUser = username
            parameters = [("code", code)]
        }
        if uri == Self.outOfBand {
            return .redirect(
                to: "\(origin)/oauth/authorize/native?\(FormFields.encode(parameters))")
        }
        if let state = fields["state"] { parameters.append(("state", state)) }
        return .redirect(to: "\(uri)?\(FormFields.encode(parameters))")
    }

    // MARK: Tokens

    private func isClient(_ fields: FormFields) -> Bool {
        applications[fields["client_id"] ?? ""]?.secret == fields["client_secret"]
            && fields["client_secret"] != nil
    }

    private mutating func grantToken(_ request: RecordedRequest) -> Reply {
        let fields = request.fields
        let application = applications[fields["client_id"] ?? ""]
        guard let application, isClient(fields) else { return clientRejection }
        if software == .friendica, !accepts(fields["redirect_uri"] ?? "", application) {
            return .invalidClient
        }
        let grant: TokenStore.Grant?
        let isRefresh = fields["grant_type"] == "refresh_token"
        switch fields["grant_type"] {
        case "authorization_code" where software.codeRefusal == .none:
            var last = TokenStore.Grant(username: application.lastUser, scopes: application.scopes)
            last.client = fields["client_id"] ?? ""
            grant = last
        case "authorization_code":
            grant = tokens.redeem(
                fields["code"] ?? "", redirectURI: fields["redirect_uri"],
                client: fields["client_id"], verifier: fields["code_verifier"], now: now)
        case "refresh_token" where settings.tokenLifetimeSeconds != nil:
            grant = tokens.refresh(fields["refresh_token"] ?? "", client: fields["client_id"])
        default:
            return .unsupportedGrantType
        }
        guard let grant else { return isRefresh ? refreshRejection : codeRejection }
        let known = tokens.token(of: grant, now: now)
        if software.replacesTokens, let known { tokens.revoke(known.access) }
        let token =
            (settings.reusesTokens ? known : nil)
            ?? tokens.makeToken(grant, lifetime: settings.tokenLifetimeSeconds, now: now)
        return Reply(
            200, json: document(token),
            headers: Reply.noStore)
    }

    private var clientRejection: Reply {
        if software.codeRefusal == .none { return Reply(401) }
        return software.revealsUnknownClients ? .invalidClient : codeRejection
    }

    private var codeRejection: Reply {
        switch software.codeRefusal {
        case .invalidGrant, .none:
            .invalidGrant
        case .unauthorized: Reply(401, json: ["error": "Unauthorized"])
        case .invalidCredentials: Reply(400, json: ["error": "Invalid credentials"])
        case .crash: Reply(500, html: Page.document("<h1>Server Error (500)</h1>", of: name))
        }
    }

    private var refreshRejection: Reply {
        switch software.refreshRefusal {
        case .invalidGrant:
            .oauthError(400, "invalid_grant", "The provided authorization grant is invalid.")
        case .invalidRequest:
            Reply(
                401,
                json: [
                    "error": "invalid_request",
                    "error_description": "The refresh token is invalid.",
                    "hint": "Token has been revoked", "message": "The refresh token is invalid.",
                ])
        case .invalidCredentials: Reply(400, json: ["error": "Invalid credentials"])
        }
    }

    private func document(_ token: TokenStore.Token) -> JSON {
        var document: JSON = ["token_type": "Bearer", "access_token": .string(token.access)]
        if let lifetime = settings.tokenLifetimeSeconds {
            document =
                document + [
                    "expires_in": .integer(lifetime), "refresh_token": .string(token.refresh),
                ]
        }
        guard software.describesTokens else { return document }
        return document + [
            "scope": .string(token.grant.scopes.joined(separator: " ")),
            "created_at": .integer(token.created.secondsSince1970),
        ]
    }

    private mutating func revoke(_ request: RecordedRequest) -> Reply {
        let fields = request.fields
        guard isClient(fields), tokens.revoke(fields["token"] ?? "", client: fields["client_id"])
        else {
            return .unauthorizedRevocation
        }
        switch software.revocation {
        case .application: applications[fields["client_id"] ?? ""] = nil
        case .allTokens: tokens.revokeAll(ofClient: fields["client_id"] ?? "")
        case .none, .token: break
        }
        return Reply(200, json: [:])
    }
}
