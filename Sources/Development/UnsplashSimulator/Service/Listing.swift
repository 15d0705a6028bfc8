internal import ServiceSimulator

/// One page of a list, with the header fields for the other pages.
///
/// Source: recorded responses. Page 1 refers to the last and the next page; the page after the last one is empty.
struct Listing<Element> {
    private let elements: [Element]
    private let request: RecordedRequest
    private let origin: String
    private let page: Int?
    private let perPage: Int?

    init(_ elements: [Element], _ request: RecordedRequest, origin: String) {
        self.elements = elements
        self.request = request
        self.origin = origin
        page = request.query["page"].map { Int($0) } ?? 1
        perPage = (request.query["per_page"].map { Int($0) } ?? 10).map { min(max($0, 1), 30) }
    }

    /// Creates the response for the page.
    ///
    /// - Parameters:
    ///   - body: Creates the body from the numbered elements and the number of pages.
    ///   - headers: Additional header fields.
    /// - Returns: The page; status 400 for an invalid page number.
    func reply(
        _ body: (_ elements: [(offset: Int, element: Element)], _ pages: Int) -> JSON,
        headers: () -> [(name: String, value: String)] = { [] }
    ) -> Reply {
        guard let page, page > 0 else { return .errors(400, "page is invalid") }
        guard let perPage else { return .errors(400, "per_page is invalid") }
        let pages = (elements.count + perPage - 1) / perPage
        // Any page number is valid: pages beyond the end are empty.
        let start = page > pages ? elements.count : (page - 1) * perPage
        let items = elements.indices.dropFirst(start).prefix(perPage).map {
            (offset: $0, element: elements[$0])
        }
        var links: [String] = []
        if page > 1 { links += [link(1, "first"), link(page - 1, "prev")] }
        if page < pages { links += [link(pages, "last"), link(page + 1, "next")] }
        var reply = Reply(200, json: body(items, pages))
        reply.headers += headers()
        if !links.isEmpty { reply.set("Link", links.joined(separator: ", ")) }
        reply.set("X-Total", "\(elements.count)")
        reply.set("X-Per-Page", "\(perPage)")
        return reply
    }

    private func link(_ page: Int, _ relation: String) -> String {
        let path = request.path.hasSuffix("/") ? String(request.path.dropLast()) : request.path
        let query = request.query.sorted(replacing: "page", with: "\(page)")
        return "<\(origin)\(path)?\(query)>; rel=\"\(relation)\""
    }
}
