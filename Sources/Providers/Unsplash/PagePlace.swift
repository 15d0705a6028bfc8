internal import ProviderKit

/// Where a page of a source begins: `2.220922`, the number of the page, and how many photos the source had
/// when the page before was fetched.
///
/// Unsplash counts pages from the top. What arrives at the top moves the rest down, and a page repeats
/// photos; that is harmless. What leaves moves the rest up, and the next page would skip as many: then the
/// total has become smaller, and the page before has to be read again.
struct PagePlace: Hashable, Sendable {
    /// From 1.
    var number: Int
    /// nil where it is not known.
    var total: Int?

    /// The top.
    static let top = PagePlace(number: 1)

    /// A walk that is longer than this goes round in circles.
    static let maximumNumber = 1_000_000

    var text: String { "\(number)" + (total.map { ".\($0)" } ?? "") }

    init(number: Int, total: Int? = nil) {
        self.number = number
        self.total = total
    }

    /// - Throws: ``ProviderError/invalidArgument(_:)`` for what ``text`` did not make.
    init(_ text: String?) throws(ProviderError) {
        guard let text else {
            self = .top
            return
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? Int(part) : nil
        }
        guard 1...2 ~= parts.count, numbers.count == parts.count,
            1...Self.maximumNumber ~= numbers[0]
        else { throw .invalidArgument("There is no such place in a source of Unsplash.") }
        self.init(number: numbers[0], total: numbers.count == 2 ? numbers[1] : nil)
    }

    /// The number of the next page; nil at the end.
    ///
    /// The field `Link` says whether there is one. Of its address, nothing is followed: it has to be one
    /// of the API itself, further on than this page.
    func next(links: [String], api: WebAddress) -> Int? {
        guard let target = LinkHeader.target("next", in: links), let next = WebAddress(target),
            next.origin == api.origin, let fields = next.query.flatMap(URLEncoding.fields),
            let number = fields.first(where: { $0.name == "page" }).flatMap({ Int($0.value) }),
            number > self.number, number <= Self.maximumNumber
        else { return nil }
        return number
    }
}
