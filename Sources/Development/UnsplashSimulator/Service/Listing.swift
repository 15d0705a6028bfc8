internal import ServiceSimulator

/// One page of a list, with what its headers tell about the others.
///
/// Source: recorded answers. Page 1 names the last and the next page; the page after the last is empty.
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

    /// - Parameters:
    ///   - body: Makes the body of the numbered elements and the number of pages.
    ///   - headers: Those that the list adds.
    /// - Returns: The page; 400 for a number that is none.
    func reply(
        _ body: (_ elements: [(offset: Int, element: Element)], _ pages: Int) -> JSON,
        headers: () -> [(name: String, value: String)] = { [] }
    ) -> Reply {
        guard let page, page > 0 else { return .errors(400, "page is invalid") }
        guard let perPage else { return .errors(400, "per_page is invalid") }
        let pages = (elements.count + perPage - 1) / perPage
        // A page of any number: beyond the end there is nothing.
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
