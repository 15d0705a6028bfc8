internal import ServiceSimulator

/// The website, as far as users log in there: `unsplash.com/oauth`.
///
/// Source: unsplash.com/documentation/user-authentication-workflow; Doorkeeper 5, which it runs on.
extension ServiceState {
    private static let scopes: Set = [
        "public", "read_user", "write_user", "read_photos", "write_photos", "write_likes",
        "write_followers", "read_collections", "write_collections",
    ]
    static let outOfBand = "urn:ietf:wg:oauth:2.0:oob"

    mutating func answerWeb(_ request: RecordedRequest) -> Reply {
        switch (request.method, request.path) {
        case ("GET", "/oauth/authorize"):
            return refusedAuthorization(request)
                ?? Page.consent(
                    request, users: catalogue.users.keys.sorted(), scopes: scopes(request.query),
                    of: "Unsplash")
        case ("POST", "/oauth/authorize"):
            return refusedAuthorization(request) ?? decide(request)
        case ("GET", "/oauth/authorize/native"):
            return Reply(
                200,
                html: document(
                    "<code id=\"code\">\(Page.escape(request.query["code"]))</code>"))
        case ("POST", "/oauth/token"): return token(request)
        case ("POST", "/oauth/revoke"): return revoke(request)
        default: return Reply(404, html: document("<h1>Page not found</h1>"))
        }
    }

    private func document(_ body: String) -> String { Page.document(body, of: "Unsplash") }

    // MARK: Authorization

    /// Why nobody is asked for consent; nil if somebody is.
    private func refusedAuthorization(_ request: RecordedRequest) -> Reply? {
        let fields = request.fields
        guard applications[fields["client_id"] ?? ""] != nil else {
            return Reply(401, html: document(Page.escape(Self.invalidClient)))
        }
        // Not redirected: the address may be anybody's.
        guard let uri = fields["redirect_uri"], settings.redirectURIs.contains(uri) else {
            return Reply(400, html: document("The redirect uri included is not valid."))
        }
        guard fields["response_type"] == "code" else {
            return redirect(
                request, error: "unsupported_response_type",
                "The authorization server does not support this response type.")
        }
        guard scopes(fields).allSatisfy(Self.scopes.contains) else {
            return redirect(
                request, error: "invalid_scope",
                "The requested scope is invalid, unknown, or malformed.")
        }
        return nil
    }

    private func scopes(_ fields: FormFields) -> [String] {
        let scopes = (fields["scope"] ?? "").split(separator: " ").map(String.init)
        return scopes.isEmpty ? ["public"] : scopes
    }

    private mutating func decide(_ request: RecordedRequest) -> Reply {
        let fields = request.fields
        guard fields["decision"] == "approve", let username = fields["username"],
            catalogue.users[username] != nil, let uri = fields["redirect_uri"]
        else {
            return redirect(
                request, error: "access_denied",
                "The resource owner or authorization server denied the request.")
        }
        var grant = TokenStore.Grant(username: username, scopes: scopes(fields))
        grant.client = fields["client_id"] ?? ""
        let code = tokens.makeCode(grant, redirectURI: uri, now: now)
        return redirect(request, [("code", code)])
    }

    private func redirect(
        _ request: RecordedRequest, error: String, _ description: String
    ) -> Reply {
        if request.fields["redirect_uri"] == Self.outOfBand {
            return Reply(400, html: document(Page.escape(description)))
        }
        return redirect(request, [("error", error), ("error_description", description)])
    }

    private func redirect(
        _ request: RecordedRequest, _ parameters: [(name: String, value: String)]
    ) -> Reply {
        let fields = request.fields
        let uri = fields["redirect_uri"] ?? ""
        if uri == Self.outOfBand {
            return .redirect(
                to: "\(origins.web)/oauth/authorize/native?\(FormFields.encode(parameters))")
        }
        let state = fields["state"].map { [(name: "state", value: $0)] } ?? []
        let query = FormFields.encode(parameters + state)
        return .redirect(to: uri + (uri.contains("?") ? "&" : "?") + query)
    }

    // MARK: Tokens

    private static let invalidClient =
        "Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method."

    private func isClient(_ fields: FormFields) -> Bool {
        fields["client_secret"] != nil
            && applications[fields["client_id"] ?? ""] == fields["client_secret"]
    }

    private func error(_ status: Int, _ error: String, _ description: String) -> Reply {
        Reply(
            status, json: ["error": .string(error), "error_description": .string(description)],
            headers: [("Cache-Control", "no-store"), ("Pragma", "no-cache")])
    }

    private mutating func token(_ request: RecordedRequest) -> Reply {
        let fields = request.fields
        guard isClient(fields) else { return error(401, "invalid_client", Self.invalidClient) }
        let grant: TokenStore.Grant?
        switch fields["grant_type"] {
        case "authorization_code":
            grant = tokens.redeem(
                fields["code"] ?? "", redirectURI: fields["redirect_uri"],
                client: fields["client_id"], now: now)
        case "refresh_token":
            grant = tokens.refresh(fields["refresh_token"] ?? "", client: fields["client_id"])
        default:
            return error(
                400, "unsupported_grant_type",
                "The authorization grant type is not supported by the authorization server.")
        }
        guard let grant else {
            return error(
                400, "invalid_grant",
                "The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client."
            )
        }
        let token = tokens.makeToken(grant, lifetime: settings.tokenLifetimeSeconds, now: now)
        return Reply(
            200, json: document(token),
            headers: [("Cache-Control", "no-store"), ("Pragma", "no-cache")])
    }

    private func document(_ token: TokenStore.Token) -> JSON {
        let scope = JSON.string(token.grant.scopes.joined(separator: " "))
        let created = JSON.integer(token.created.secondsSince1970)
        let lifetime = settings.tokenLifetimeSeconds.map { JSON.integer($0) }
        var document: JSON =
            switch settings.tokenShape {
            case .documented:
                ["access_token": .string(token.access), "token_type": "bearer"]
            case .current:
                ["access_token": .string(token.access), "token_type": "Bearer"]
            }
        if let lifetime { document = document + ["expires_in": lifetime] }
        if settings.tokenShape == .current || lifetime != nil {
            document = document + ["refresh_token": .string(token.refresh)]
        }
        document = document + ["scope": scope, "created_at": created]
        guard settings.tokenShape == .current, let user = catalogue.users[token.grant.username]
        else { return document }
        return document + [
            "user_id": .integer(user.numericID), "username": .string(user.username),
        ]
    }

    private mutating func revoke(_ request: RecordedRequest) -> Reply {
        let fields = request.fields
        guard isClient(fields), tokens.revoke(fields["token"] ?? "", client: fields["client_id"])
        else {
            return error(
                403, "unauthorized_client", "You are not authorized to revoke this token")
        }
        return Reply(200, json: [:])
    }
}
