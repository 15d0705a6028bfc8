package import ProviderKit
internal import Translation

/// The response of a service to an authorization request: the code, which can be exchanged for a token once, within a
/// short time.
typealias RedirectAnswer = Result<Secret, OAuthError>

nonisolated extension RedirectAnswer {
    /// Creates the response from the parameters of a redirect with the right state; nil if they contain none.
    ///
    /// - Parameters:
    ///   - parameters: The parameters of the redirect.
    ///   - service: The service that must have sent the redirect.
    init?(_ parameters: RedirectParameters, from service: OAuthDescription) {
        guard service.isIssuer(parameters.issuer) else {
            // The code of another service must not be sent to this one.
            self = .failure(
                .refused(Message("The response came from another service; log in again.")))
            return
        }
        switch (parameters.code, parameters.error) {
        case (let code?, nil):
            guard code.isCode else { return nil }
            self = .success(code)
        case (nil, let error?):
            guard !error.isEmpty else { return nil }
            self = .failure(OAuthError(code: error, text: parameters.errorDescription))
        default: return nil
        }
    }

    /// Creates the response from pasted text: a code, or the address of the browser.
    ///
    /// - Parameters:
    ///   - text: The text. White space around it is ignored.
    ///   - state: The state of an address that has one. Pages that show a code have none.
    ///   - redirectAddress: The redirect address of the login. A redirect to it always has a state.
    ///   - service: The service that must have sent the address.
    /// - Throws: ``OAuthError/invalidCode(_:)`` for anything else. The login continues.
    init(
        pasted text: String, state: Secret, redirectAddress: String, from service: OAuthDescription
    ) throws(OAuthError) {
        guard text.utf8.count <= RedirectParameters.maximumLength else {
            throw .invalidCode(
                "The code is longer than \(RedirectParameters.maximumLength >> 10) KiB; copy it again."
            )
        }
        let text = text.trimmed
        guard !text.isEmpty else { throw .invalidCode("The code is empty; copy it again.") }
        guard let query = text.queryOfAddress else {
            let code = Secret(String(text))
            guard code.isCode else {
                throw .invalidCode("The code contains invalid characters; copy it again.")
            }
            self = .success(code)
            return
        }
        guard let parameters = RedirectParameters(query: query) else {
            throw .invalidCode("The address is malformed; copy it again.")
        }
        let isOther = parameters.state.map { !$0.matches(state) } ?? text.hasPrefix(redirectAddress)
        if isOther {
            throw .invalidCode("The address belongs to another login; log in again.")
        }
        guard let answer = RedirectAnswer(parameters, from: service) else {
            throw .invalidCode(
                "The address contains no code; copy the last address in the browser.")
        }
        self = answer
    }
}

nonisolated extension OAuthDescription {
    /// Returns true if a redirect that names an issuer, or none, can come from this service.
    ///
    /// Source: RFC 9207 §2.4. A known issuer is compared byte by byte.
    fileprivate func isIssuer(_ named: String?) -> Bool {
        guard let named else { return !namesIssuer }
        if let issuer { return named == issuer }
        return WebAddress(named)?.origin == WebAddress(authorizationURL)?.origin
    }
}

nonisolated extension Secret {
    /// True if the text can be a code or a token: visible ASCII characters (RFC 6749 appendix A), which are safe in a
    /// header.
    package var isCode: Bool { withBytes { !$0.isEmpty && $0.allSatisfy { 0x21...0x7e ~= $0 } } }
}

nonisolated extension Substring {
    /// The part between `?` and `#` of an address, or the query that was copied from one; nil for anything else.
    fileprivate var queryOfAddress: Substring? {
        let isQuery = ["?", "code=", "state=", "error="].contains { hasPrefix($0) }
        guard isQuery || contains("://") else { return nil }
        let end = firstIndex(of: "#") ?? endIndex
        let whole = self[..<end]
        guard let mark = whole.firstIndex(of: "?") else { return isQuery ? whole : "" }
        return whole[whole.index(after: mark)...]
    }
}

/// The known parameters of the query of a redirect.
///
/// Source: RFC 6749 §4.1.2, RFC 9207 §2.
nonisolated struct RedirectParameters: Sendable {
    /// The size limit of a query, in bytes.
    static let maximumLength = 16 << 10

    private(set) var code: Secret?
    private(set) var state: Secret?
    private(set) var error: String?
    private(set) var errorDescription: String?
    private(set) var issuer: String?

    /// Parses a query; nil if it is malformed or too long, or contains one of these parameters twice.
    init?(query: Substring) {
        guard query.utf8.count <= Self.maximumLength, let fields = URLEncoding.fields(query) else {
            return nil
        }
        var names: Set<String> = []
        for (name, value) in fields {
            switch name {
            case "code": code = Secret(value)
            case "state": state = Secret(value)
            case "error": error = value
            case "error_description": errorDescription = value
            case "iss": issuer = value
            default: continue
            }
            guard names.insert(name).inserted else { return nil }
        }
    }
}
