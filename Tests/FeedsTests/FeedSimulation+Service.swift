import ProviderKit

@testable import Feeds

/// A service of ``FeedSimulation``: a list of entries that changes.
struct SimulatedList {
    /// The form of the page tokens of a service.
    enum Kind: CaseIterable {
        /// Entries have keys, and the page token names the last one.
        case keyed
        /// The page token names the last entry.
        case lasting
        /// The page token is the number of entries before the page.
        case counted
    }

    /// A fault of one response.
    enum Fault: CaseIterable {
        /// The entries are in another order, and the page token names the last one.
        case unordered
        /// The page is filled up with its first entries, and the page token names a repeated one.
        case repeats
        /// Status 206: entries are missing.
        case partial
        /// The response has no page token although there are more entries.
        case falseEnd
    }

    struct Entry: Hashable {
        let key: Int
        /// The photos: none for an entry of text, several for a status with several pictures.
        var photos: [Int]
    }

    let kind: Kind
    let pageSize: Int
    /// The highest key first, unless entries were moved.
    private(set) var entries: [Entry] = []
    private(set) var hidden: Set<Int> = []
    private var nextKey = 1_000_000
    private var nextPhoto = 1
    /// The photos that have left an entry, and when.
    private(set) var losses: [(photo: Int, step: Int)] = []
    /// The keys of all entries that a photo ever had.
    private(set) var allKeys: [Int: Set<Int>] = [:]
    var step = 0

    init(_ kind: Kind, pageSize: Int, count: Int) {
        self.kind = kind
        self.pageSize = pageSize
        for _ in 0..<count { arrive(photos: 1) }
    }

    var highestKey: Int { entries.map(\.key).max() ?? 0 }

    /// The photos that a client is to show, each once.
    var shown: [Int] {
        var seen: Set<Int> = []
        return entries.flatMap(\.photos).filter { !hidden.contains($0) && seen.insert($0).inserted }
    }

    /// Returns a photo that is selected by any number.
    private func photo(_ number: UInt64) -> Int? {
        let photos = entries.flatMap(\.photos)
        return photos.isEmpty ? nil : photos[Int(number % UInt64(photos.count))]
    }

    // MARK: Changes

    /// Adds an entry at the top, below the pinned entries.
    mutating func arrive(photos count: Int, below pins: Int = 0) {
        nextKey += 1000
        insert(Entry(key: nextKey, photos: (0..<count).map { nextPhoto + $0 }), at: pins)
        nextPhoto += count
    }

    private mutating func insert(_ entry: Entry, at index: Int) {
        for photo in entry.photos { allKeys[photo, default: []].insert(entry.key) }
        entries.insert(entry, at: min(index, entries.count))
    }

    /// Inserts a new photo at any position.
    mutating func arriveLate(_ number: UInt64) {
        guard let top = entries.first, let bottom = entries.last else { return }
        let (low, high) = (min(top.key, bottom.key), max(top.key, bottom.key))
        let key = low + Int(number % UInt64(high - low + 1))
        guard !entries.contains(where: { $0.key == key }) else { return }
        let entry = Entry(key: key, photos: [nextPhoto])
        nextPhoto += 1
        insert(entry, at: entries.firstIndex { $0.key < key } ?? entries.count)
    }

    /// Shows a photo once more at the top.
    mutating func boost(_ number: UInt64) {
        guard let photo = photo(number) else { return }
        nextKey += 1000
        insert(Entry(key: nextKey, photos: [photo]), at: 0)
    }

    /// Removes an entry: the photo stays if it has another.
    mutating func removeEntry(_ number: UInt64) {
        guard !entries.isEmpty else { return }
        let entry = entries.remove(at: Int(number % UInt64(entries.count)))
        losses += entry.photos.map { ($0, step) }
    }

    mutating func delete(_ number: UInt64) {
        guard let photo = photo(number) else { return }
        losses.append((photo, step))
        for index in entries.indices { entries[index].photos.removeAll { $0 == photo } }
    }

    mutating func hide(_ number: UInt64) {
        guard let photo = photo(number) else { return }
        losses.append((photo, step))
        hidden.insert(photo)
    }

    mutating func unhide() { hidden = [] }

    /// Records that the photos of entries count as removed, because a response did not contain or announce them.
    mutating func lose(where isMissing: (Int) -> Bool) {
        losses += entries.filter { isMissing($0.key) }.flatMap(\.photos).map { ($0, step) }
    }

    mutating func move(_ number: UInt64, to other: UInt64) {
        guard !entries.isEmpty else { return }
        let entry = entries.remove(at: Int(number % UInt64(entries.count)))
        losses += entry.photos.map { ($0, step) }
        entries.insert(entry, at: Int(other % UInt64(entries.count + 1)))
    }

    // MARK: Pages

    /// A page and its contents.
    struct Response {
        var page: RemotePage
        /// The photos that it shows, by the keys of their entries.
        let shown: [Int: Set<Int>]
        /// The keys that it covers.
        let covered: ClosedRange<Int>
        var fault: Fault?
    }

    /// Returns a page.
    ///
    /// - Parameters:
    ///   - token: The page token; nil for the top.
    ///   - fault: The fault of the response, which only a service with keys has.
    ///   - number: Selects the entries that the fault concerns.
    /// - Returns: The page.
    func response(_ token: String?, _ fault: Fault? = nil, _ number: UInt64 = 0) -> Response {
        let start: Int
        switch (kind, token.flatMap { Int($0) }) {
        case (_, nil): start = 0
        case (.counted, let number?): start = min(number, entries.count)
        case (.keyed, let key?): start = entries.firstIndex { $0.key < key } ?? entries.count
        case (.lasting, let key?):
            // The entry may be removed; its key still gives its position.
            start =
                entries.firstIndex { $0.key == key }.map { $0 + 1 }
                ?? entries.firstIndex { $0.key < key } ?? entries.count
        }
        var part = Array(entries[start...].prefix(pageSize))
        let hasMore = start + part.count < entries.count
        var fault = part.count > 1 && kind == .keyed ? fault : nil
        var shownEntries = part
        switch fault {
        case .unordered:
            shownEntries.sort { ($0.key &* 7919) % 104_729 > ($1.key &* 7919) % 104_729 }
        case .repeats where !hasMore && part.count < pageSize:
            shownEntries += part.prefix(min(part.count - 1, pageSize - part.count))
        case .repeats: fault = nil
        case .partial:
            // Not the last one, which the page token names.
            part.remove(at: Int(number % UInt64(part.count - 1)))
            shownEntries = part
        case .falseEnd where !hasMore: fault = nil
        case .falseEnd, nil: break
        }
        let photos = shownEntries.flatMap { entry in
            entry.photos.filter { !hidden.contains($0) }.map { photo in
                var remote = RemotePhoto(Photo(id: PhotoID("p\(photo)")))
                if kind == .keyed { remote.entry = "k\(entry.key)" }
                return remote
            }
        }
        var page = RemotePage(photos)
        let isContinued = (hasMore || fault == .repeats) && fault != .falseEnd
        if isContinued, let last = shownEntries.last {
            page.next = kind == .counted ? "\(start + part.count)" : "\(last.key)"
        }
        if kind == .keyed { page.end = shownEntries.last.map { "k\($0.key)" } }
        page.isPartial = fault == .partial
        let lowest = isContinued ? shownEntries.last?.key ?? 0 : 0
        let highest = token.flatMap { Int($0) }.map { $0 - 1 } ?? highestKey
        return Response(
            page: page,
            shown: Dictionary(
                uniqueKeysWithValues: part.map { ($0.key, Set($0.photos).subtracting(hidden)) }),
            covered: lowest...max(lowest, kind == .counted ? highestKey : highest), fault: fault)
    }
}
