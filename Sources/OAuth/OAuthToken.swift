internal import FoundationEssentials
package import ProviderKit

/// What the secret store keeps of an account: its tokens, and what is known of them.
nonisolated package struct OAuthToken: Sendable {
    package let accessToken: Secret
    package let refreshToken: Secret?
    package let scopes: [String]
    /// When the reply came.
    package let obtained: Timestamp
    /// When the access token ends; nil where the service does not say. Counted from ``obtained``, by the
    /// clock of this machine: whether the service's is right does not matter.
    package let expires: Timestamp?
    /// The client that the token was issued to; nil for a token that was stored without one, and for a key.
    package var client: TokenClient?

    /// How long before its end a token is refreshed.
    private static let lead: Int64 = 600

    package init(
        accessToken: Secret, refreshToken: Secret?, scopes: [String], obtained: Timestamp,
        expires: Timestamp?, client: TokenClient? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.scopes = scopes
        self.obtained = obtained
        self.expires = expires
        self.client = client
    }

    /// - Parameters:
    ///   - reply: Of the service.
    ///   - obtained: When it came.
    ///   - requestedScopes: Those that were asked for.
    ///   - refreshToken: The one to keep if no new one came.
    ///   - client: The client that the token was issued to.
    init(
        _ reply: TokenReply, obtained: Timestamp, requestedScopes: [String],
        refreshToken: Secret? = nil, client: TokenClient? = nil
    ) {
        self.init(
            accessToken: reply.accessToken, refreshToken: reply.refreshToken ?? refreshToken,
            scopes: reply.scopes ?? requestedScopes, obtained: obtained,
            expires: reply.lifetime.map { obtained + $0 }, client: client)
    }

    /// Returns true if the access tokens or the refresh tokens are equal: then revoking one token ends the other.
    package func sharesSecret(with other: OAuthToken) -> Bool {
        if accessToken.matches(other.accessToken) { return true }
        guard let refreshToken, let otherRefresh = other.refreshToken else { return false }
        return refreshToken.matches(otherRefresh)
    }

    /// What an account has in place of a token that has none.
    package static func none(now: Timestamp) -> OAuthToken {
        OAuthToken(
            accessToken: Secret(""), refreshToken: nil, scopes: [], obtained: now, expires: nil)
    }

    /// A key that a service gave its user: it lasts until it is refused.
    package static func key(_ key: Secret, now: Timestamp) -> OAuthToken {
        OAuthToken(accessToken: key, refreshToken: nil, scopes: [], obtained: now, expires: nil)
    }

    /// Whether it is time for ``TokenEndpoint/refresh(_:)``: ten minutes before the end, or after half of a
    /// life shorter than twenty.
    ///
    /// Never without a refresh token. When the clock says that the token is not obtained yet, by more than
    /// those ten minutes, the clock was set and its end is unknown: yes.
    package func needsRefresh(now: Timestamp) -> Bool {
        guard refreshToken != nil, let expires else { return false }
        let (now, from, end) =
            (now.secondsSince1970, obtained.secondsSince1970, expires.secondsSince1970)
        // What was stored may be anything, so nothing here may overflow.
        let (lifetime, overflows) = end.subtractingReportingOverflow(from)
        guard !overflows, lifetime > 0 else { return true }
        let (due, dueOverflows) = end.subtractingReportingOverflow(min(Self.lead, lifetime / 2))
        return dueOverflows || now >= due || from > now.addingReportingOverflow(Self.lead).0
    }
}

extension OAuthToken {
    /// What is stored, as compact JSON.
    nonisolated fileprivate struct Stored: Codable {
        static let version = 1

        var version = Self.version
        var access: String
        var refresh: String?
        var scopes: [String]
        var obtained: Int64
        var expires: Int64?
        // The client. Earlier versions of this program store none, and ignore it.
        var client: String?
        var secret: String?
        var tokenURL: String?
        var revocationURL: String?
    }

    /// The token as it is stored.
    nonisolated package var encoded: Secret {
        let stored = Stored(
            access: accessToken.withText { $0 }, refresh: refreshToken?.withText { $0 },
            scopes: scopes, obtained: obtained.secondsSince1970,
            expires: expires?.secondsSince1970, client: client?.client.id,
            secret: client?.client.secret?.withText { $0 }, tokenURL: client?.tokenURL,
            revocationURL: client?.revocationURL)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and whole numbers can always be encoded.
        guard var data = try? encoder.encode(stored) else { return Secret("") }
        defer { data.resetBytes(in: data.indices) }
        return data.withUnsafeBytes { Secret(copying: $0) }
    }

    /// Reads what ``encoded`` gave; nil for anything else, and for what a later version of this program
    /// stored differently. Keys that are not known count for nothing.
    nonisolated package init?(encoded: Secret) {
        var data = encoded.withBytes { Data($0) }
        defer { data.resetBytes(in: data.indices) }
        guard let stored = try? JSONDecoder().decode(Stored.self, from: data),
            stored.version == Stored.version
        else { return nil }
        let access = Secret(stored.access)
        guard access.isCode else { return nil }
        self.init(
            accessToken: access,
            refreshToken: stored.refresh.map { Secret($0) }.flatMap { $0.isCode ? $0 : nil },
            scopes: stored.scopes, obtained: Timestamp(secondsSince1970: stored.obtained),
            expires: stored.expires.map { Timestamp(secondsSince1970: $0) },
            client: stored.tokenClient)
    }
}

nonisolated extension OAuthToken.Stored {
    fileprivate var tokenClient: TokenClient? {
        guard let client, let tokenURL else { return nil }
        return TokenClient(
            OAuthClient(id: client, secret: secret.map { Secret($0) }), tokenURL: tokenURL,
            revocationURL: revocationURL)
    }
}
