internal import ProviderKit

/// A response to `action=query`.
///
/// Every field is optional except those by which pages are found.
///
/// Source: the documentation of the Action API, with `formatversion=2`.
struct QueryRecord: Decodable {
    /// The requested pages; nil if the response has none.
    let pages: [PageRecord]?
    /// The new titles of moved pages, by their former titles.
    let redirects: [String: String]
    /// The general information about the site.
    let site: SiteRecord?
    /// The parameters that request the rest; nil if the response is complete.
    let continuation: [String: String]?
    let error: ErrorRecord?
    /// True if the response states that it is complete.
    let isComplete: Bool

    private enum Key: String, CodingKey {
        case query, pages, redirects, general, error, batchcomplete
        case continuation = "continue"
    }

    private struct Redirect: Decodable {
        let from: String
        let to: String
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        continuation = values.lenient(.continuation)
        error = values.lenient(.error)
        isComplete = values.lenientFlag(.batchcomplete) ?? false
        let query = try? values.nestedContainer(keyedBy: Key.self, forKey: .query)
        pages = query?.lenient(.pages, as: LenientList<PageRecord>.self)?.elements
        site = query?.lenient(.general)
        let list = query?.lenient(.redirects, as: LenientList<Redirect>.self)?.elements ?? []
        redirects = Dictionary(list.map { ($0.from, $0.to) }) { first, _ in first }
    }
}

/// An error in a response with status 200.
struct ErrorRecord: Decodable {
    /// The kind of error, such as `maxlag`.
    let code: String
    let info: String?

    private enum Key: String, CodingKey {
        case code, info
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        code = try values.decode(String.self, forKey: .code)
        info = values.lenient(.info)
    }
}

/// The used fields of `siprop=general`.
struct SiteRecord: Decodable {
    let name: String?
    let mainPage: String?
    let logo: String?

    private enum Key: String, CodingKey {
        case sitename, base, logo
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        name = values.lenient(.sitename)
        mainPage = values.lenient(.base)
        logo = values.lenient(.logo)
    }
}
