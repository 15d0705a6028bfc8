internal import ProviderKit

/// The position of a page in a source: the query parameters of the `Link` address that the server sent.
///
/// The parameters are opaque: they may count statuses, likes or pages.
struct PageToken: Equatable, Sendable {
    /// The parameters as an escaped query.
    let text: String
    let fields: [(name: String, value: String)]

    /// The maximum length of a query, in bytes.
    private static let maximumLength = 2048

    /// - Throws: ``ProviderError/invalidArgument(_:)`` for text that is not the ``text`` of a token.
    init(_ text: String) throws(ProviderError) {
        guard let token = PageToken(query: Substring(text)) else {
            throw .invalidArgument(
                "The page token is not valid at this server; start again with the first page.")
        }
        self = token
    }

    init(fields: [(name: String, value: String)]) {
        self.fields = fields
        text = URLEncoding.form(fields)
    }

    private init?(query: Substring) {
        guard query.utf8.count <= Self.maximumLength, let fields = URLEncoding.fields(query),
            !fields.isEmpty
        else { return nil }
        self.init(fields: fields)
    }

    /// Creates the token of the next page from `Link` fields; nil at the end.
    ///
    /// Only the query of the address is used. It is sent to the address of this page, because servers behind some
    /// proxies send incorrect addresses.
    init?(links: [String]) {
        guard let target = LinkHeader.target("next", in: links),
            let mark = target.firstIndex(of: "?")
        else { return nil }
        self.init(query: target[target.index(after: mark)...].prefix { $0 != "#" })
    }

    static func == (left: PageToken, right: PageToken) -> Bool { left.text == right.text }
}
