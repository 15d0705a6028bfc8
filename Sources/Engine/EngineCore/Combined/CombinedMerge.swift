internal import EngineModel
internal import ProviderKit
internal import Translation

/// The merge of the feeds of several accounts into one page.
///
/// This type only decides; its owner reads the accounts. The next photo is always the newest among the next photos of
/// the accounts, and the order within an account does not change. These rules determine the order in other cases:
///
/// - Of photos with the same time, the one of the account after the previous photo's account is next.
/// - A photo without a time has the time of its predecessor in its account. Without such a time, it has the time of
///   the newest other photo, so that accounts without times alternate with the others.
/// - An account whose next photo cannot be read now is left out of the rest of the page. Its position does not change.
///
/// The next photo is known only if the next photo of every account is known. An account that had few photos on the
/// page is read in small steps, so that few photos are read that the page does not contain.
nonisolated struct CombinedMerge {
    /// A read that the merge needs: the index of the account in the list of accounts at the beginning, the position after
    /// which to read, which is nil for the beginning of the source, and the number of photos.
    typealias Request = (member: Int, position: String?, count: Int)

    /// The progress of an account.
    private struct Feed {
        /// The position of the next photo.
        var entry: CombinedCursor.Entry
        /// The photos that were read and are not on the page, in reverse order, each with the cursor after it.
        var next: [(photo: Photo, cursor: String?)] = []
        /// True if photos may follow those in ``next``.
        var hasMore = true
        /// The error because of which the next photo cannot be read now.
        var problem: (any Error)?
        /// The number of photos on the page.
        var used = 0

        /// True if the source has no more photos.
        var isAtEnd: Bool { next.isEmpty && !hasMore }
        /// True if the next photo has to be read.
        var needsRead: Bool { next.isEmpty && hasMore && problem == nil }
        /// True if the account has not contributed to the walk, because it cannot be read.
        var isLeftOut: Bool { problem != nil && entry.position == nil && next.isEmpty }
    }

    /// The photos of the page so far, each with the index of its account in the list of accounts at the beginning.
    private(set) var items: [(member: Int, photo: Photo)] = []
    private let count: Int
    private var feeds: [Feed]
    /// The member that wins ties.
    private var turn = 0

    /// - Parameters:
    ///   - entries: The positions of the accounts, in the order in which ties are resolved.
    ///   - count: The number of photos of the page.
    init(_ entries: [CombinedCursor.Entry], count: Int) {
        self.count = count
        feeds = entries.map { Feed(entry: $0) }
    }

    /// Appends the photos that are known to be next.
    ///
    /// - Returns: The photos that the owner reads next; it reports each result with ``supply(_:to:)``, ``block(_:_:)`` or
    ///   ``end(_:)``. nil if the page is complete.
    mutating func advance() -> [Request]? {
        while items.count < count {
            if feeds.contains(where: \.needsRead) { return requests() }
            guard let index = nextFeed() else { break }
            let (photo, cursor) = feeds[index].next.removeLast()
            if let created = photo.created { feeds[index].entry.created = created.secondsSince1970 }
            feeds[index].entry.position = cursor
            feeds[index].used += 1
            items.append((index, photo))
            turn = (index + 1) % feeds.count
        }
        return nil
    }

    /// Returns the account with the next photo; nil if no photo is known.
    private func nextFeed() -> Int? {
        let order = feeds.indices.map { (turn + $0) % feeds.count }.filter {
            !feeds[$0].next.isEmpty
        }
        let newest = order.compactMap(time(ofNextPhotoOf:)).max()
        return order.first { time(ofNextPhotoOf: $0).map { $0 == newest } ?? true }
    }

    /// Returns the time that orders the next photo of an account; nil if there is none.
    private func time(ofNextPhotoOf index: Int) -> Int64? {
        feeds[index].next.last?.photo.created?.secondsSince1970 ?? feeds[index].entry.created
    }

    /// Returns the reads of the accounts whose next photo is not known.
    private func requests() -> [Request] {
        feeds.indices.filter { feeds[$0].needsRead }.map { index in
            let position = feeds[index].entry.position
            return (index, position?.isEmpty == true ? nil : position, readCount(feeds[index]))
        }
    }

    /// Returns the number of photos to read of an account: at first half of an equal share of the page, then 60 % of
    /// the share that results from the photos of the page so far, at least two. Larger steps read more photos that the
    /// page does not contain, smaller steps require more reads.
    private func readCount(_ feed: Feed) -> Int {
        let rest = count - items.count
        guard feed.used > 0 else { return min(rest, max(1, count / (2 * feeds.count))) }
        return min(rest, max(2, rest * feed.used * 3 / (items.count * 5)))
    }

    // MARK: Results of reads

    /// Adds photos that were read.
    mutating func supply(_ page: Page, to member: Int) {
        guard !page.photos.isEmpty || !page.hasMore else {
            return block(
                member,
                ProviderError.failed(Message("The service returned no photos; try again later.")))
        }
        if feeds[member].entry.position == nil {
            feeds[member].entry.position = page.cursor(0) ?? ""
        }
        feeds[member].next = page.photos.indices.reversed().map {
            (page.photos[$0], page.cursor($0 + 1))
        }
        feeds[member].hasMore = page.hasMore
    }

    /// Leaves an account out of the rest of the page, because its next photo cannot be read now.
    mutating func block(_ member: Int, _ error: any Error) { feeds[member].problem = error }

    /// Removes an account from the walk, because it has no more photos.
    mutating func end(_ member: Int) {
        feeds[member].next = []
        feeds[member].hasMore = false
    }

    // MARK: Result

    /// The indexes of the accounts that have not contributed to the walk, because they cannot be read.
    var leftOut: [Int] { feeds.indices.filter { feeds[$0].isLeftOut } }

    /// True if an account could not be read.
    var hasProblems: Bool { feeds.contains { $0.problem != nil } }

    /// The error of a page without photos on which the walk has not ended.
    var problem: (any Error)? {
        guard items.isEmpty else { return nil }
        return feeds.first { $0.problem != nil && !$0.isLeftOut }?.problem
    }

    /// The position after the page; nil at the end of the walk.
    ///
    /// The walk does not wait for accounts that never contributed to it. They can be added until the walk ends.
    var cursor: CombinedCursor? {
        guard feeds.contains(where: { !$0.isAtEnd && !$0.isLeftOut }) else { return nil }
        let order = feeds[turn...] + feeds[..<turn]
        return CombinedCursor(order.filter { !$0.isAtEnd }.map(\.entry))
    }
}
