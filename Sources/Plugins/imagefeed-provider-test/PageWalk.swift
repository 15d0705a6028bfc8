internal import ProviderKit

/// A walk through the pages of a source.
struct PageWalk {
    let source: SourceID
    private(set) var pages: [RemotePage] = []
    private var seen: Set<[String?]> = []
    private var places: Set<String> = []

    init(_ source: SourceID) { self.source = source }

    var photos: [RemotePhoto] { pages.flatMap(\.photos) }

    /// The page token of the next page; nil for the first page.
    var place: String? { pages.last?.next }

    /// True if there is another page.
    var hasNext: Bool { pages.last.map { $0.next != nil } ?? true }

    /// A page that is not the first one: its page token, and the IDs of its photos.
    var laterPage: (place: String, photos: [PhotoID])? {
        guard pages.count > 1, let place = pages[0].next else { return nil }
        return (place, pages[1].photos.map(\.photo.id))
    }

    /// Adds the next page, and checks that neither a photo nor a page token is repeated.
    mutating func add(_ page: RemotePage, _ check: inout Check) {
        for photo in page.photos where !seen.insert([photo.photo.id.text, photo.entry]).inserted {
            check.fail("The photo “\(photo.photo.id.text.prefix(60))” is on two pages.")
            break
        }
        if let next = page.next, !places.insert(next).inserted {
            check.fail("The place “\(next.prefix(60))” occurs twice, so the pages never end.")
        }
        pages.append(page)
    }

    /// Checks that the pages end.
    ///
    /// - Parameters:
    ///   - limit: The number of pages after which the walk ends.
    ///   - count: The number of photos in the list of sources; nil if it is unknown.
    ///   - check: Receives the findings.
    func checkEnd(_ limit: Int, count: Int?, _ check: inout Check) {
        if pages.contains(where: { $0.photos.isEmpty && $0.next != nil }) {
            check.warn("A page without photos has a “next”; the last page of a source has none.")
        } else if hasNext, pages.count == limit,
            (pages.last?.total ?? count ?? 0) <= seen.count
        {
            check.warn(
                "The pages do not end after \(limit) pages with \(seen.count) photos, and neither “total” nor “count” is larger."
            )
        }
    }

    /// Checks that the newest photo is the first one.
    func checkOrder(_ check: inout Check) {
        let times = photos.compactMap(\.photo.created)
        guard times.count > 2, let first = times.first, let last = times.last, first < last,
            zip(times, times.dropFirst()).allSatisfy({ $0 <= $1 })
        else { return }
        check.warn("The oldest photo is the first one; the newest photo has to be the first one.")
    }

    /// Checks the keys of the entries, if there are any.
    func checkKeys(_ check: inout Check) {
        let keys = photos.map(\.entry)
        guard keys.contains(where: { $0 != nil }) || pages.contains(where: { $0.end != nil }) else {
            return
        }
        if keys.contains(nil) || pages.contains(where: { $0.end == nil }) {
            check.section = .photos
            check.warn("Only some photos and pages have “entry” and “end”; all of them need both.")
        }
        let known = keys.compactMap(\.self)
        for (key, next) in zip(known, known.dropFirst())
        where key.utf8.lexicographicallyPrecedes(next.utf8) {
            check.section = .photos
            check.fail(
                "The entry “\(next.prefix(60))” follows the lower entry “\(key.prefix(60))”.")
            break
        }
    }
}
