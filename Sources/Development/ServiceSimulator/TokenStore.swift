internal import FoundationEssentials

/// The codes and tokens that a service has issued.
package struct TokenStore: Sendable {
    package struct Grant: Hashable, Sendable {
        package var username: String
        package var scopes: [String]
        /// The client ID of the application; empty for a service with one application.
        package var client = ""

        package init(username: String, scopes: [String]) {
            self.username = username
            self.scopes = scopes
        }
    }

    private struct Code {
        var grant: Grant
        var redirectURI: String
        /// The code challenge (RFC 7636); nil if the request had none.
        var challenge: String?
        var expires: Moment
    }

    package struct Token: Sendable {
        package let access: String
        package let refresh: String
        package internal(set) var grant: Grant
        package let created: Moment
        /// nil if the token does not expire.
        package let expires: Moment?
        var isRevoked = false
        var isRefreshed = false
    }

    private var random = SeededRandom(seed: 0x0a07)
    private var codes: [String: Code] = [:]
    package private(set) var tokens: [Token] = []

    package init() {}

    /// Issues a code that is valid once and for ten minutes.
    package mutating func makeCode(
        _ grant: Grant, redirectURI: String, challenge: String? = nil, now: Moment
    ) -> String {
        let code = random.identifier(43)
        codes[code] = Code(
            grant: grant, redirectURI: redirectURI, challenge: challenge, expires: now + 600)
        return code
    }

    /// Returns the grant of a code; nil if it is not valid. The code is invalid afterwards in any case.
    package mutating func redeem(
        _ code: String, redirectURI: String?, client: String? = nil, verifier: String? = nil,
        now: Moment
    ) -> Grant? {
        guard let found = codes.removeValue(forKey: code), now < found.expires,
            found.redirectURI == redirectURI, client == nil || client == found.grant.client
        else { return nil }
        if let challenge = found.challenge {
            guard let verifier, Self.challenge(verifier) == challenge else { return nil }
        }
        return found.grant
    }

    /// Returns the code challenge of a verifier, with the method S256.
    private static func challenge(_ verifier: String) -> String {
        Data(SHA256.digest(Array(verifier.utf8))).base64EncodedString()
            .replacing("=", with: "").replacing("+", with: "-").replacing("/", with: "_")
    }

    /// Returns the valid token that a user has already granted to an application.
    package func token(of grant: Grant, now: Moment) -> Token? {
        tokens.last {
            $0.grant == grant && !$0.isRevoked && !$0.isRefreshed
                && $0.expires.map { now < $0 } ?? true
        }
    }

    package mutating func makeToken(_ grant: Grant, lifetime: Int?, now: Moment) -> Token {
        let token = Token(
            access: random.identifier(43), refresh: random.identifier(43), grant: grant,
            created: now, expires: lifetime.map { now + $0 })
        tokens.append(token)
        return token
    }

    /// Returns the grant of a refresh token, and invalidates it and its access token.
    ///
    /// - Parameters:
    ///   - refreshToken: The refresh token.
    ///   - client: The client ID of the application that presents it; nil for a service with one application.
    /// - Returns: nil for a token that is not valid or was issued to another application.
    package mutating func refresh(_ refreshToken: String, client: String? = nil) -> Grant? {
        let index = tokens.firstIndex {
            $0.refresh == refreshToken && !$0.isRevoked && !$0.isRefreshed
                && (client == nil || $0.grant.client == client)
        }
        guard let index else { return nil }
        tokens[index].isRefreshed = true
        return tokens[index].grant
    }

    /// Returns the grant of an access token; nil if it is not valid.
    package func grant(_ access: String, now: Moment) -> Grant? {
        let token = tokens.first {
            $0.access == access && !$0.isRevoked && !$0.isRefreshed
                && $0.expires.map { now < $0 } ?? true
        }
        return token?.grant
    }

    /// Revokes an access or refresh token together with its counterpart.
    ///
    /// - Parameters:
    ///   - token: The token. An unknown token is ignored.
    ///   - client: The client ID of the application that presents it; nil for a service with one application.
    /// - Returns: False for a token that was issued to another application.
    @discardableResult
    package mutating func revoke(_ token: String, client: String? = nil) -> Bool {
        let indices = tokens.indices.filter {
            [tokens[$0].access, tokens[$0].refresh].contains(token)
        }
        guard indices.allSatisfy({ client == nil || tokens[$0].grant.client == client }) else {
            return false
        }
        for index in indices { tokens[index].isRevoked = true }
        return true
    }

    /// Assigns the codes and tokens of a renamed user to the new name.
    package mutating func rename(_ username: String, to newName: String) {
        for index in tokens.indices where tokens[index].grant.username == username {
            tokens[index].grant.username = newName
        }
        for code in codes.keys where codes[code]?.grant.username == username {
            codes[code]?.grant.username = newName
        }
    }

    package mutating func revokeAll(ofClient client: String) {
        for index in tokens.indices where tokens[index].grant.client == client {
            tokens[index].isRevoked = true
        }
    }

    package mutating func revokeAll(of username: String) {
        for index in tokens.indices where tokens[index].grant.username == username {
            tokens[index].isRevoked = true
        }
    }
}
