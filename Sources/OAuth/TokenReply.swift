internal import FoundationEssentials
internal import ProviderKit

/// The successful response of a token endpoint.
///
/// Only `access_token` is required. Numbers may be strings, and the scopes may be a list.
///
/// Source: RFC 6749 §5.1.
nonisolated struct TokenReply: Sendable {
    let accessToken: Secret
    let refreshToken: Secret?
    /// The lifetime of the access token; nil if the service states none, or an invalid one.
    let lifetime: Duration?
    /// The scopes of the token; nil if they are those of the request.
    let scopes: [String]?

    /// Parses a response.
    ///
    /// - Parameter body: The body of a response with a status of success.
    /// - Throws: ``OAuthError/serviceFailed(_:)``, or the error in the body: some services send errors with a status of
    ///   success.
    init(_ body: [UInt8]) throws(OAuthError) {
        guard let fields = try? JSONDecoder().decode(Fields.self, from: Data(body)) else {
            throw .serviceFailed("The token response cannot be decoded.")
        }
        guard let accessToken = fields.accessToken.map({ Secret($0) }) else {
            if let error = fields.error {
                throw OAuthError(code: error, text: fields.errorDescription)
            }
            throw .serviceFailed("The token response contains no token.")
        }
        guard accessToken.isCode else {
            throw .serviceFailed("The token contains invalid characters.")
        }
        if let kind = fields.tokenType, kind.lowercased() != "bearer" {
            throw .serviceFailed("The token type is not Bearer: \(plain(kind)).")
        }
        self.accessToken = accessToken
        refreshToken = fields.refreshToken.map { Secret($0) }.flatMap { $0.isCode ? $0 : nil }
        lifetime = fields.expiresIn.flatMap { seconds in
            // More than a century means no expiry, and so does 0.
            seconds >= 1 && seconds < 3_200_000_000 ? .seconds(Int64(seconds)) : nil
        }
        scopes = fields.scopes
    }

    private struct Fields: Decodable {
        var accessToken: String?
        var refreshToken: String?
        var tokenType: String?
        var expiresIn: Double?
        var scopes: [String]?
        var error: String?
        var errorDescription: String?

        private enum Key: String, CodingKey {
            case accessToken = "access_token"
            case refreshToken = "refresh_token"
            case tokenType = "token_type"
            case expiresIn = "expires_in"
            case scope
            case error
            case errorDescription = "error_description"
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: Key.self)
            // A value of another type counts as absent.
            func text(_ key: Key) -> String? { try? fields.decode(String.self, forKey: key) }
            accessToken = text(.accessToken)
            refreshToken = text(.refreshToken)
            tokenType = text(.tokenType)
            expiresIn =
                (try? fields.decode(Double.self, forKey: .expiresIn))
                ?? text(.expiresIn).flatMap { Double($0) }
            scopes =
                text(.scope).map { $0.split { $0 == " " || $0 == "," }.map(String.init) }
                ?? (try? fields.decode([String].self, forKey: .scope))
            error = text(.error)
            errorDescription = text(.errorDescription)
        }
    }
}

nonisolated extension OAuthError {
    /// Creates the error of a response; nil for a success.
    ///
    /// Source: RFC 6749 §5.2. Services disagree about 400, 401 and 403, so the name of the error decides. Laravel
    /// sends `message` instead of a name.
    init?(_ response: HTTPResponse, now: Timestamp) {
        switch response.status {
        case 200..<300: return nil
        case 429:
            self = .rateLimited(until: response.retryAfter(now: now).map { now + $0 })
        // Both statuses request that the client repeats the request.
        case 408, 425: self = .serviceFailed("The token response has status \(response.status).")
        case 400..<500:
            let body = try? JSONDecoder().decode(ErrorBody.self, from: Data(response.body))
            if let code = body?.error {
                self.init(code: code, text: body?.explanation)
            } else if let message = body?.message {
                self = .refused(plain(message))
            } else {
                self = .serviceFailed("The token response has status \(response.status).")
            }
        default: self = .serviceFailed("The token response has status \(response.status).")
        }
    }

    private struct ErrorBody: Decodable {
        let error: String?
        let explanation: String?
        let message: String?

        private enum Key: String, CodingKey {
            case error, message
            case explanation = "error_description"
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: Key.self)
            func text(_ key: Key) -> String? {
                (try? fields.decode(String.self, forKey: key)).flatMap { $0.isEmpty ? nil : $0 }
            }
            error = text(.error)
            explanation = text(.explanation)
            message = text(.message)
        }
    }
}
