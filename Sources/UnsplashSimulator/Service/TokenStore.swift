/// The codes and tokens that the service has given out.
struct TokenStore {
    struct Grant {
        var username: String
        var scopes: [String]
    }

    struct Code {
        var grant: Grant
        var redirectURI: String
        var expires: Moment
    }

    struct Token {
        let access: String
        let refresh: String
        let grant: Grant
        let created: Moment
        /// nil is never.
        let expires: Moment?
        var isRevoked = false
        var isRefreshed = false
    }

    private var random = SplitMix(seed: 0x0a07)
    private var codes: [String: Code] = [:]
    private(set) var tokens: [Token] = []

    /// Makes a code that is good for ten minutes, once.
    mutating func makeCode(_ grant: Grant, redirectURI: String, now: Moment) -> String {
        let code = random.identifier(43)
        codes[code] = Code(grant: grant, redirectURI: redirectURI, expires: now + 600)
        return code
    }

    /// What a code stands for. It is used up, whatever comes out.
    mutating func redeem(_ code: String, redirectURI: String?, now: Moment) -> Grant? {
        guard let found = codes.removeValue(forKey: code), now < found.expires,
            found.redirectURI == redirectURI
        else { return nil }
        return found.grant
    }

    mutating func makeToken(_ grant: Grant, lifetime: Int?, now: Moment) -> Token {
        let token = Token(
            access: random.identifier(43), refresh: random.identifier(43), grant: grant,
            created: now, expires: lifetime.map { now + $0 })
        tokens.append(token)
        return token
    }

    /// What a refresh token stands for. It and its access token are no good any more.
    mutating func refresh(_ refreshToken: String) -> Grant? {
        let index = tokens.firstIndex {
            $0.refresh == refreshToken && !$0.isRevoked && !$0.isRefreshed
        }
        guard let index else { return nil }
        tokens[index].isRefreshed = true
        return tokens[index].grant
    }

    /// Whom an access token stands for; nil if it is none, or not any more.
    func grant(_ access: String, now: Moment) -> Grant? {
        let token = tokens.first {
            $0.access == access && !$0.isRevoked && !$0.isRefreshed
                && $0.expires.map { now < $0 } ?? true
        }
        return token?.grant
    }

    /// Revokes an access or refresh token.
    mutating func revoke(_ token: String) {
        for index in tokens.indices
        where [tokens[index].access, tokens[index].refresh].contains(token) {
            tokens[index].isRevoked = true
        }
    }

    mutating func revokeAll(of username: String) {
        for index in tokens.indices where tokens[index].grant.username == username {
            tokens[index].isRevoked = true
        }
    }
}
