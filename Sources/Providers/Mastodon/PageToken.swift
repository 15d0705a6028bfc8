internal import ProviderKit

/// Where a page of a source begins: the parameters of the address that the server itself has named.
///
/// Nothing is read out of them, since what they count may be anything: statuses, likes, pages.
struct PageToken: Hashable, Sendable {
    /// As a query, escaped.
    let text: String
    let fields: [(name: String, value: String)]

    /// The longest one that is kept, in bytes.
    private static let maximumLength = 2048

    /// - Throws: ``ProviderError/invalidArgument(_:)`` for what ``text`` did not make.
    init(_ text: String) throws(ProviderError) {
        guard let place = PageToken(query: Substring(text)) else {
            throw .invalidArgument("There is no such place in a source of the server.")
        }
        self = place
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

    /// The place of the next page; nil at the end.
    ///
    /// Of the address, only the parameters count: they are sent to where this page came from. Behind some
    /// proxies, servers do not know their own address.
    init?(links: [String]) {
        guard let target = LinkHeader.target("next", in: links),
            let mark = target.firstIndex(of: "?")
        else { return nil }
        self.init(query: target[target.index(after: mark)...].prefix { $0 != "#" })
    }

    static func == (left: PageToken, right: PageToken) -> Bool { left.text == right.text }
    func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
