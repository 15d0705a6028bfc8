internal import ProviderKit

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
