package import ProviderKit

/// What a service said to an authorization request.
nonisolated package enum RedirectAnswer: Sendable {
    /// Buys a token, once and soon.
    case code(Secret)
    case failed(OAuthError)

    /// Makes sense of the parameters of a redirect whose state is right; nil if they answer nothing.
    ///
    /// - Parameters:
    ///   - parameters: Of the redirect.
    ///   - issuer: Whom the redirect must name if it names anybody; nil for whomever. Compared as it
    ///     stands (RFC 9207 §2.4).
    init?(_ parameters: RedirectParameters, issuer: String?) {
        if let issuer, let named = parameters.issuer, named != issuer {
            // Another service answers: its code must not be sent to this one.
            self = .failed(.refused("The answer came from another service."))
            return
        }
        switch (parameters.code, parameters.error) {
        case (let code?, nil):
            guard code.isCode else { return nil }
            self = .code(code)
        case (nil, let error?):
            guard !error.isEmpty else { return nil }
            self = .failed(OAuthError(code: error, text: parameters.errorDescription))
        default: return nil
        }
    }

    /// Makes sense of what a person pasted: a bare code, or the address that the browser ended on.
    ///
    /// - Parameters:
    ///   - text: White space around it counts for nothing.
    ///   - state: An address that has a state must have this one. The pages that show a code have none.
    ///   - issuer: Whom an address must name if it names anybody; nil for whomever.
    /// - Throws: ``OAuthError/invalidCode(_:)`` for anything else. The login goes on.
    init(pasted text: String, state: Secret, issuer: String?) throws(OAuthError) {
        guard text.utf8.count <= RedirectParameters.maximumLength else {
            throw .invalidCode("That is too long for a code.")
        }
        let text = text.trimmed
        guard !text.isEmpty else { throw .invalidCode("There is no code.") }
        guard let query = text.queryOfAddress else {
            let code = Secret(String(text))
            guard code.isCode else { throw .invalidCode("That is no code.") }
            self = .code(code)
            return
        }
        guard let parameters = RedirectParameters(query: query) else {
            throw .invalidCode("That address is malformed.")
        }
        if let other = parameters.state, !other.matches(state) {
            throw .invalidCode("That address belongs to another login.")
        }
        guard let answer = RedirectAnswer(parameters, issuer: issuer) else {
            throw .invalidCode("There is no code in that address.")
        }
        self = answer
    }
}

nonisolated extension Secret {
    /// Whether it can be a code or a token: visible ASCII characters (RFC 6749 appendix A), which do no
    /// harm in a header either.
    package var isCode: Bool { withBytes { !$0.isEmpty && $0.allSatisfy { 0x21...0x7e ~= $0 } } }
}

nonisolated extension String {
    fileprivate var trimmed: Substring {
        let start = self[...].drop { $0.isWhitespace }
        guard let end = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return start[...end]
    }
}

nonisolated extension Substring {
    /// What is between `?` and `#` if this is an address, or a query copied out of one; nil for
    /// anything else.
    fileprivate var queryOfAddress: Substring? {
        let isQuery = ["?", "code=", "state=", "error="].contains { hasPrefix($0) }
        guard isQuery || contains("://") else { return nil }
        let end = firstIndex(of: "#") ?? endIndex
        let whole = self[..<end]
        guard let mark = whole.firstIndex(of: "?") else { return isQuery ? whole : "" }
        return whole[whole.index(after: mark)...]
    }
}
