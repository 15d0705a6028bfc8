internal import ServiceSimulator

/// The login pages of the website: `unsplash.com/oauth`.
///
/// Source: unsplash.com/documentation/user-authentication-workflow; Doorkeeper 5, the software of the service.
extension ServiceState {
    private static let scopes: Set = [
        "public", "read_user", "write_user", "read_photos", "write_photos", "write_likes",
        "write_followers", "read_collections", "write_collections",
    ]
    static let outOfBand = "urn:ietf:wg:oauth:2.0:oob"

    mutating func webReply(_ request: RecordedRequest) -> Reply {
        switch (request.method, request.path) {
        case ("GET", "/oauth/authorize"):
            return authorizationError(request)
                ?? Page.consent(
                    request, users: catalogue.users.keys.sorted(), scopes: scopes(request.query),
                    of: "Unsplash")
        case ("POST", "/oauth/authorize"):
            return authorizationError(request) ?? decide(request)
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

    /// Returns the error for an invalid authorization request; nil for a valid one.
    private func authorizationError(_ request: RecordedRequest) -> Reply? {
        let fields = request.fields
        guard applications[fields["client_id"] ?? ""] != nil else {
            return Reply(401, html: document(Page.escape(Reply.invalidClientText)))
        }
        // No redirect, because the address may belong to an attacker.
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

    private func isClient(_ fields: FormFields) -> Bool {
        fields["client_secret"] != nil
            && applications[fields["client_id"] ?? ""] == fields["client_secret"]
    }

    private mutating func token(_ request: RecordedRequest) -> Reply {
        let fields = request.fields
        guard isClient(fields) else { return .invalidClient }
        let grant: TokenStore.Grant?
        switch fields["grant_type"] {
        case "authorization_code":
            grant = tokens.redeem(
                fields["code"] ?? "", redirectURI: fields["redirect_uri"],
                client: fields["client_id"], now: now)
        case "refresh_token":
            grant = tokens.refresh(fields["refresh_token"] ?? "", client: fields["client_id"])
        default:
            return .unsupportedGrantType
        }
        guard let grant else {
            return .invalidGrant
        }
        let token = tokens.makeToken(grant, lifetime: settings.tokenLifetimeSeconds, now: now)
        return Reply(
            200, json: document(token),
            headers: Reply.noStore)
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
            return .unauthorizedRevocation
        }
        return Reply(200, json: [:])
    }
}
