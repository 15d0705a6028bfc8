internal import ProviderKit

/// Where a page of a source begins: `2.220922`, the number of the page, and how many photos the source had
/// when the page before was fetched.
///
/// Unsplash counts pages from the top. What arrives at the top moves the rest down, and a page repeats
/// photos; that is harmless, and where it is whole pages, they are passed over. What leaves moves the rest up,
/// and the next page would skip as many: then the total has become smaller, and the pages before have to be
/// read again.
struct PageToken: Hashable, Sendable {
    /// From 1.
    var number: Int
    /// nil where it is not known.
    var total: Int?

    /// The top.
    static let top = PageToken(number: 1)

    /// So many pages are read again at most.
    private static let maximumShift = 10

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

    /// The pages before this one, from the last one up, on which there may be photos by now that were on this
    /// one or after it.
    func before(total now: Int, perPage: Int) -> ReversedCollection<Range<Int>> {
        let left = min(max(0, (total ?? now) - now), Self.maximumShift * perPage)
        let count = min((left + perPage - 1) / perPage, number - 1)
        return (number - count..<number).reversed()
    }

    /// Where the photos are by now that were on this page, if those before them have filled whole pages; nil
    /// if they have not.
    func after(total now: Int, perPage: Int) -> PageToken? {
        guard let total, number > 1, case let count = (now - total) / perPage, count > 0,
            number + count <= Self.maximumNumber
        else { return nil }
        return PageToken(number: number + count, total: now)
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
