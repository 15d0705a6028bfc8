internal import ProviderKit

/// A walk through the pages of a source.
struct PageWalk {
    let source: SourceID
    private(set) var pages: [RemotePage] = []
    private(set) var photos: Set<[String?]> = []
    private var places: Set<String> = []

    init(_ source: SourceID) { self.source = source }

    /// The page token of the next page; nil for the first page.
    var place: String? { pages.last?.next }

    /// True if there is another page.
    var hasNext: Bool { pages.last.map { $0.next != nil } ?? true }

    /// Adds the next page, and checks that neither a photo nor a page token is repeated.
    mutating func add(_ page: RemotePage, _ check: inout Check) {
        for photo in page.photos where !photos.insert([photo.photo.id.text, photo.entry]).inserted {
            check.fail("The photo “\(photo.photo.id.text.prefix(60))” is on two pages.")
            break
        }
        if let next = page.next, !places.insert(next).inserted {
            check.fail("The place “\(next.prefix(60))” occurs twice, so the pages never end.")
        }
        pages.append(page)
    }

    /// Checks the keys of the entries, if there are any.
    func checkKeys(_ check: inout Check) {
        let keys = pages.flatMap(\.photos).map(\.entry)
        guard keys.contains(where: { $0 != nil }) || pages.contains(where: { $0.end != nil }) else {
            return
        }
        if keys.contains(nil) || pages.contains(where: { $0.end == nil }) {
            check.warn("Only some photos and pages have “entry” and “end”; all of them need both.")
        }
        let known = keys.compactMap(\.self)
        for (key, next) in zip(known, known.dropFirst())
        where key.utf8.lexicographicallyPrecedes(next.utf8) {
            check.fail(
                "The entry “\(next.prefix(60))” follows the lower entry “\(key.prefix(60))”.")
            break
        }
    }
}
