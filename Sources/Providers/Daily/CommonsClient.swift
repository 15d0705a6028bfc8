internal import ProviderKit
internal import Translation
internal import WebService

/// A client for the Action API of Wikimedia Commons.
struct CommonsClient: ServiceClient {
    typealias Fields = [(name: String, value: String)]

    /// The maximum number of pages in a request.
    static let pagesPerRequest = 50
    /// The widths of thumbnails. The service offers only standard widths. Both widths are standard, and their doubles
    /// are rounded up to standard widths: 330, 960, 1920 and 3840.
    ///
    /// Source: mediawiki.org, "Common thumbnail sizes".
    private static let widths = (small: 330, large: 1920)
    /// All standard widths.
    static let standardWidths = [20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840]
    /// The maximum number of responses to a query.
    private static let maximumResponses = 8
    /// The maximum size of a response, in bytes. A page of 30 pictures takes about 100 KiB.
    private static let maximumBytes = 4 << 20
    /// The age of the slowest database, in seconds, from which the service rejects requests.
    private static let maximumLag = 5

    let service = ServiceDescription.commons
    let ports: SessionPorts
    let mapping: ModelMapping
    private let api: WebAddress

    /// - Throws: ``ProviderError/notConfigured(_:)``.
    init(_ ports: SessionPorts) throws(ProviderError) {
        api = try ports.settings.commonsAddress()
        mapping = ModelMapping(allowsLoopback: api.isLoopback)
        self.ports = ports
    }

    // MARK: Pictures

    /// The template of a day, with the title of the file that it names.
    typealias Template = (day: Day, title: String)

    /// Fetches the titles of the files of days.
    ///
    /// - Parameter days: The days.
    /// - Returns: The templates that name a file, in the order of the days; nil if none of the days has a template.
    /// - Throws: ``ProviderError``, ``HTTPError``, `CancellationError`.
    func templates(of days: [Day]) async throws -> [Template]? {
        let pages = try await query(
            [
                ("titles", Self.titles(of: days)), ("prop", "images|revisions"), ("imlimit", "max"),
                ("rvprop", "content"), ("rvslots", "main"),
            ]
        ).pages
        let found = Dictionary(pages.map { ($0.title ?? "", $0) }) { first, _ in first }
        let existing = days.filter { found[Self.title(of: $0)]?.isMissing == false }
        guard !existing.isEmpty else { return nil }
        return existing.compactMap { day in
            found[Self.title(of: day)]?.namedFile.map { (day, $0) }
        }
    }

    /// A file, with its thumbnails.
    struct File {
        /// The page ID.
        let id: Int
        let title: String
        /// The texts, and the thumbnails for lists.
        let image: ServiceRecord
        /// The thumbnails for screens; nil if they are not known.
        var largeImage: ServiceRecord?
    }

    /// Fetches the files that the templates of days show, by their titles and those that redirect to them.
    func files(of days: [Day]) async throws -> [String: File] {
        try await files([
            ("titles", Self.titles(of: days)), ("generator", "images"), ("gimlimit", "max"),
            ("redirects", "1"),
        ])
    }

    /// Fetches files by their page IDs.
    ///
    /// - Parameter pages: At most ``pagesPerRequest`` IDs.
    /// - Returns: The files that exist, by their page IDs.
    /// - Throws: ``ProviderError``, ``HTTPError``, `CancellationError`.
    func files(pages: [Int]) async throws -> [Int: File] {
        let ids = pages.map { "\($0)" }.joined(separator: "|")
        let files = try await files([("pageids", ids)]).values
        return Dictionary(files.map { ($0.id, $0) }) { first, _ in first }
    }

    private func files(_ selection: Fields) async throws -> [String: File] {
        // Each request returns the thumbnails of one width and of its double.
        let small = try await query(
            selection + [
                ("prop", "imageinfo"), ("iiprop", "url|size|mime|thumbmime|extmetadata"),
                ("iiurlwidth", "\(Self.widths.small)"), ("iiextmetadatalanguage", "en"),
                ("iiextmetadatafilter", ModelMapping.textNames.joined(separator: "|")),
            ])
        let large = try await query(
            selection + [
                ("prop", "imageinfo"), ("iiprop", "url|thumbmime"),
                ("iiurlwidth", "\(Self.widths.large)"),
            ])
        var pages: [String: File] = [:]
        for page in small.pages {
            guard let id = page.id, let title = page.title, let image = page.image else { continue }
            pages[title] = File(id: id, title: title, image: image)
        }
        for page in large.pages { pages[page.title ?? ""]?.largeImage = page.image }
        var files = pages
        for (from, to) in small.redirects where pages[from] == nil { files[from] = pages[to] }
        return files
    }

    private static func title(of day: Day) -> String { "Template:Potd/\(day.text)" }

    private static func titles(of days: [Day]) -> String { days.map(title).joined(separator: "|") }

    // MARK: The site

    /// Fetches the profile of the account, with the name and the logo of the site.
    func profile() async throws -> Profile {
        let record = try await send([("meta", "siteinfo"), ("siprop", "general")])
        guard let site = record.record("query")?.record("general") else {
            throw service.invalidResponse(Message("a document without the name of the site"))
        }
        return mapping.profile(site)
    }

    // MARK: Requests

    /// Sends a query until its response is complete.
    ///
    /// - Parameter fields: The parameters.
    /// - Returns: The pages. A page without an ID has a title.
    /// - Throws: ``ProviderError``, ``HTTPError``, `CancellationError`.
    private func query(
        _ fields: Fields
    ) async throws -> (pages: [PageRecord], redirects: [String: String]) {
        var pages: [PageRecord] = []
        var redirects: [String: String] = [:]
        var indices: [String: Int] = [:]
        var rest: Fields = []
        for _ in 0..<Self.maximumResponses {
            let record = try await send(
                fields.filter { field in
                    !rest.contains { $0.name == field.name }
                } + rest)
            let found = record.record("query")
            let parts = found?.records("pages")?.map(PageRecord.init)
            // A response without pages is complete only if nothing was requested, or found by a generator.
            guard parts != nil || record.flag("batchcomplete") == true else {
                throw service.invalidResponse(Message("a document without pages"))
            }
            for page in parts ?? [] {
                let key = page.title ?? "\(page.id ?? 0)"
                if let index = indices[key] {
                    pages[index].add(page)
                } else {
                    indices[key] = pages.count
                    pages.append(page)
                }
            }
            for redirect in found?.records("redirects") ?? [] {
                guard let from = redirect.text("from"), let to = redirect.text("to") else {
                    continue
                }
                redirects[from] = redirects[from] ?? to
            }
            let continuation = record.value("continue", as: [String: String].self)
            guard let continuation, !continuation.isEmpty else { return (pages, redirects) }
            rest = continuation.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        }
        throw service.invalidResponse(Message("a list without an end"))
    }

    private func send(_ fields: Fields) async throws -> ServiceRecord {
        let common: Fields = [
            ("action", "query"), ("format", "json"), ("formatversion", "2"),
            ("maxlag", "\(Self.maximumLag)"),
        ]
        var request = HTTPRequest(.get, URLEncoding.adding(common + fields, to: api.text))
        request.headers.append("Accept", "application/json")
        request.maximumBytes = Self.maximumBytes
        let response = try await ports.http.send(request)
        let refusal = refusal(response, .other(Message("read pages")))
        if let error = refusal.error { throw error }
        let record: ServiceRecord = try decode(response)
        // The service states some errors with status 200.
        if let error = record.record("error"), let code = error.text("code") {
            throw refusal.error(code, error.text("info"))
        }
        return record
    }

    // MARK: Images

    /// Returns the client for images.
    ///
    /// The service refuses widths that are not standard; the next larger one is requested in place of it.
    static func images(_ http: any HTTPClient) -> ImageClient {
        ImageClient(http) { response, url in response.status == 400 ? larger(url) : nil }
    }

    /// Returns the address of the thumbnail with the next larger standard width: `…/330px-Name.jpg`; nil if there is none.
    private static func larger(_ url: String) -> String? {
        guard let slash = url.lastIndex(of: "/"), let end = url[slash...].firstRange(of: "px-"),
            let width = Int(url[url.index(after: slash)..<end.lowerBound]),
            let next = standardWidths.first(where: { $0 > width })
        else { return nil }
        return "\(url[...slash])\(next)\(url[end.lowerBound...])"
    }
}
