internal import FoundationEssentials
internal import JSONFormat
package import ProviderKit

/// The tokens of an account, as the secret store holds them.
nonisolated package struct OAuthToken: Sendable {
    package let accessToken: Secret
    package let refreshToken: Secret?
    package let scopes: [String]
    /// The time at which the response arrived.
    package let obtained: Timestamp
    /// The expiry of the access token; nil if the service does not state it. Counted from ``obtained`` by the clock of
    /// this machine, so that the clock of the service does not matter.
    package let expires: Timestamp?
    /// The client that the token was issued to; nil for a key, and for a token without OAuth.
    ///
    /// Only this client can renew and revoke the token, also after the application was registered again. Only the
    /// addresses for that are stored with the token.
    package let client: RegisteredClient?
    /// True if the service issued the token for a user name and a password, false for an OAuth token and for a key.
    package var isIssued = false

    /// The time before the expiry at which a token is refreshed, in seconds.
    private static let lead: Int64 = 600

    package init(
        accessToken: Secret, refreshToken: Secret?, scopes: [String], obtained: Timestamp,
        expires: Timestamp?, client: RegisteredClient? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.scopes = scopes
        self.obtained = obtained
        self.expires = expires
        self.client = client
    }

    /// Returns true if the access tokens or the refresh tokens are equal: then revoking one token ends the other.
    package func sharesSecret(with other: OAuthToken) -> Bool {
        if accessToken.matches(other.accessToken) { return true }
        guard let refreshToken, let otherRefresh = other.refreshToken else { return false }
        return refreshToken.matches(otherRefresh)
    }

    /// Returns the placeholder for an account without a token.
    package static func none(now: Timestamp) -> OAuthToken { key(Secret(""), now: now) }

    /// Returns a token for an API key that the user got from the service. It is valid until the service refuses it.
    package static func key(_ key: Secret, now: Timestamp) -> OAuthToken {
        OAuthToken(accessToken: key, refreshToken: nil, scopes: [], obtained: now, expires: nil)
    }

    /// Returns a token that the service issued for a user name and a password. The token is valid until the service
    /// refuses it.
    package static func issued(_ token: Secret, now: Timestamp) -> OAuthToken {
        var token = key(token, now: now)
        token.isIssued = true
        return token
    }

    /// Returns true if the token is due for ``TokenEndpoint/refresh(_:)``: ten minutes before its expiry, or after half
    /// of a lifetime below twenty minutes.
    ///
    /// False without a refresh token. True if ``obtained`` is more than ten minutes in the future: the clock was set,
    /// and the expiry is unknown.
    package func needsRefresh(now: Timestamp) -> Bool {
        guard refreshToken != nil, let expires else { return false }
        let (now, from, end) =
            (now.secondsSince1970, obtained.secondsSince1970, expires.secondsSince1970)
        // The stored values are not trusted, so nothing here may overflow.
        let (lifetime, overflows) = end.subtractingReportingOverflow(from)
        guard !overflows, lifetime > 0 else { return true }
        let (due, dueOverflows) = end.subtractingReportingOverflow(min(Self.lead, lifetime / 2))
        return dueOverflows || now >= due || from > now.addingReportingOverflow(Self.lead).0
    }
}

extension OAuthToken {
    /// The stored form, as compact JSON.
    nonisolated fileprivate struct Stored: Codable {
        static let version = 1

        var version = Self.version
        var access: String
        var refresh: String?
        var scopes: [String]
        var obtained: Int64
        var expires: Int64?
        // The client; missing for a key, and for a token without OAuth.
        var client: String?
        var secret: String?
        var tokenURL: String?
        var revocationURL: String?
        // True if ``OAuthToken/isIssued``, otherwise missing. Earlier versions ignore it.
        var issued: Bool?

        var registered: RegisteredClient? {
            guard let client, let tokenURL else { return nil }
            var description = OAuthDescription(
                authorizationURL: "", tokenURL: tokenURL, scopes: [], tokenOrigins: [])
            description.revocationURL = revocationURL
            return RegisteredClient(
                description: description, id: client, secret: secret.map { Secret($0) })
        }
    }

    /// The token in its stored form.
    nonisolated package var encoded: Secret {
        let stored = Stored(
            access: accessToken.withText { $0 }, refresh: refreshToken?.withText { $0 },
            scopes: scopes, obtained: obtained.secondsSince1970,
            expires: expires?.secondsSince1970, client: client?.id,
            secret: client?.secret?.withText { $0 },
            tokenURL: client?.description.tokenURL,
            revocationURL: client?.description.revocationURL, issued: isIssued ? true : nil)
        return .encoding(stored)
    }

    /// Creates a token from its ``encoded`` form; nil for invalid data and for the format of a later version. Unknown
    /// keys are ignored.
    nonisolated package init?(encoded: Secret) {
        guard let stored: Stored = encoded.decodeJSON(), stored.version == Stored.version else {
            return nil
        }
        let access = Secret(stored.access)
        guard access.isCode else { return nil }
        self.init(
            accessToken: access,
            refreshToken: stored.refresh.map { Secret($0) }.flatMap { $0.isCode ? $0 : nil },
            scopes: stored.scopes, obtained: Timestamp(secondsSince1970: stored.obtained),
            expires: stored.expires.map { Timestamp(secondsSince1970: $0) },
            client: stored.registered)
        isIssued = stored.issued == true
    }
}

nonisolated extension Secret {
    /// Returns the compact JSON of a value, which consists of strings and whole numbers.
    static func encoding(_ value: some Encodable) -> Secret {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Such values can always be encoded.
        var data = (try? encoder.encode(value)) ?? Data()
        defer { data.resetBytes(in: data.indices) }
        return data.withUnsafeBytes { Secret($0) }
    }

    func decodeJSON<Value: Decodable>() -> Value? { withBytes { JSON.decode($0) } }
}
