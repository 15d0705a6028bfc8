internal import JSONFormat
internal import ProviderKit
internal import Translation

nonisolated extension OAuthToken {
    /// Creates a token from the response of a token endpoint.
    ///
    /// Only `access_token` is required. Numbers may be strings, and the scopes may be a list.
    ///
    /// - Parameters:
    ///   - body: The body of a response with a status of success.
    ///   - obtained: The time at which it arrived.
    ///   - requestedScopes: The scopes of the request.
    ///   - refreshToken: The refresh token to keep if the response contains none.
    ///   - client: The client that the token was issued to.
    /// - Throws: ``OAuthError/serviceFailed(_:)``, or the error in the body: some services send errors with a status of
    ///   success.
    ///
    /// Source: RFC 6749 §5.1.
    init(
        _ body: [UInt8], obtained: Timestamp, requestedScopes: [String],
        refreshToken: Secret? = nil, client: RegisteredClient? = nil
    ) throws(OAuthError) {
        guard let record = ServiceRecord(json: body) else {
            throw .serviceFailed(Message("The token response cannot be decoded."))
        }
        guard let accessToken = record.text("access_token").map({ Secret($0) }) else {
            if let error = record.text("error") {
                throw OAuthError(code: error, text: record.text("error_description"))
            }
            throw .serviceFailed(Message("The token response contains no token."))
        }
        guard accessToken.isCode else {
            throw .serviceFailed(Message("The token contains invalid characters."))
        }
        if let kind = record.text("token_type"), kind.lowercased() != "bearer" {
            throw .serviceFailed(Message("The token type is not Bearer."))
        }
        let newRefreshToken = record.text("refresh_token").map { Secret($0) }
        let lifetime: Duration? = record.number("expires_in").flatMap { seconds in
            // More than a century means no expiry, and so does 0.
            seconds >= 1 && seconds < 3_200_000_000 ? .seconds(Int64(seconds)) : nil
        }
        let names = record.text("scope")?.split { $0 == " " || $0 == "," }
        let scopes: [String]? = names?.map(String.init) ?? record.value("scope")
        self.init(
            accessToken: accessToken,
            refreshToken: newRefreshToken.flatMap { $0.isCode ? $0 : nil } ?? refreshToken,
            scopes: scopes ?? requestedScopes, obtained: obtained,
            expires: lifetime.map { obtained + $0 }, client: client)
    }
}

nonisolated extension OAuthError {
    /// Creates the error of a response about a token, or of that to a registration; nil for a success.
    ///
    /// Source: RFC 6749 §5.2. Services disagree about 400, 401 and 403, so the name of the error decides. Laravel
    /// sends `message` instead of a name.
    init?(_ response: HTTPResponse, now: Timestamp, isRegistration: Bool = false) {
        if response.isSuccess { return nil }
        if response.status == 429 {
            self = .rateLimited(until: response.retryAfter(now: now).map { now + $0 })
            return
        }
        // The statuses 408 and 425 request that the client repeats the request.
        let isRefusal = 400..<500 ~= response.status && ![408, 425].contains(response.status)
        let record = isRefusal ? ServiceRecord(json: response.body) : nil
        func text(_ name: String) -> String? {
            record?.text(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        if let code = text("error") {
            self.init(code: code, text: text("error_description"))
        } else if let message = text("message") {
            self = .refused(Message(verbatim: plain(message)))
        } else {
            let status: KeyValuePairs = ["status": "\(response.status)"]
            self = .serviceFailed(
                isRegistration
                    ? Message("The registration response has status {status}.", status)
                    : Message("The token response has status {status}.", status))
        }
    }
}

nonisolated extension ServiceRecord {
    /// Decodes an object; nil for another body.
    init?(json body: [UInt8]) {
        guard let record: ServiceRecord = JSON.decode(body) else { return nil }
        self = record
    }
}
