internal import DBus
internal import ProviderKit

/// The pages that were asked for lately, marshalled: a widget that asks again gets a copy.
///
/// A value that decides; it keeps a handful, since widgets show the top of few feeds.
nonisolated struct PreparedPageCache {
    struct Key: Hashable, Sendable {
        let source: SourceID
        let cursor: String
        let count: UInt32
    }

    private struct Kept {
        let key: Key
        /// nil after a change of what the page may hold.
        var reply: PreparedReply?
        /// Whether a client has asked for it since it was made because of a change.
        var isWanted: Bool
        /// The time at which the reply was prepared, if it expires.
        var prepared: Timestamp?
    }

    /// The time for which a page of a remote account is kept. When it is made again, its parts that are old are
    /// refreshed. The top of the source is refreshed with each read, if it is old.
    static let retention = Duration.seconds(300)

    /// How many pages of one account are kept.
    static let limit = 4

    private var pages: [Kept] = []
    /// Counts the changes. A page that was asked for before one may be older than it.
    private(set) var changes = 0

    /// Finds a page for a client, if nothing has changed since it was made.
    ///
    /// - Parameters:
    ///   - key: The page.
    ///   - now: The current time.
    /// - Returns: The reply; nil if it has to be made.
    mutating func find(_ key: Key, now: @autoclosure () -> Timestamp) -> PreparedReply? {
        guard let index = pages.firstIndex(where: { $0.key == key }) else { return nil }
        pages[index].isWanted = true
        if let prepared = pages[index].prepared {
            let now = now()
            guard prepared <= now, now < prepared + Self.retention else { return nil }
        }
        return pages[index].reply
    }

    /// Keeps a page, unless something has changed since it was asked for.
    ///
    /// - Parameters:
    ///   - reply: The reply.
    ///   - key: The page.
    ///   - before: The value of ``changes`` when the page was asked for.
    ///   - isWanted: True if a client has asked for the page.
    ///   - now: The current time for a page of a remote account; nil for a page that does not expire.
    mutating func keep(
        _ reply: PreparedReply, _ key: Key, askedAt before: Int, isWanted: Bool,
        now: Timestamp? = nil
    ) {
        guard before == changes else { return }
        let known = pages.firstIndex { $0.key == key }.map { pages.remove(at: $0) }
        if pages.count >= Self.limit { pages.removeFirst() }
        pages.append(
            Kept(
                key: key, reply: reply, isWanted: isWanted || known?.isWanted == true,
                prepared: now))
    }

    /// Records that a client asks for a page that is being made.
    mutating func recordRequest(_ key: Key) {
        guard let index = pages.firstIndex(where: { $0.key == key }) else { return }
        pages[index].isWanted = true
    }

    /// Photos came to the top of a source, or left it.
    ///
    /// - Returns: The first pages of it that clients have asked for since they were last returned here: they
    ///   will ask again when they are told.
    mutating func change(of source: SourceID) -> [Key] {
        changes += 1
        var wanted: [Key] = []
        for index in pages.indices where pages[index].key.source == source {
            if pages[index].isWanted, pages[index].key.cursor.isEmpty {
                wanted.append(pages[index].key)
            }
            pages[index].reply = nil
            pages[index].isWanted = false
        }
        return wanted
    }

    /// Photos of whatever source are other than they were, or gone.
    mutating func changeOfPhotos() {
        changes += 1
        for index in pages.indices { pages[index].reply = nil }
    }

    /// Discards all pages, because the session or its settings changed.
    mutating func removeAll() {
        changes += 1
        pages = []
    }
}
