internal import DBus
internal import ProviderKit

/// The pages that were asked for lately, marshalled: a widget that asks again gets a copy.
///
/// A value that decides; it keeps a handful, since widgets show the top of few feeds.
nonisolated struct KeptPages {
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
    }

    /// How many pages of one account are kept.
    static let limit = 4

    private var pages: [Kept] = []
    /// Counts the changes. A page that was asked for before one may be older than it.
    private(set) var changes = 0

    /// Finds a page for a client, if nothing has changed since it was made.
    mutating func find(_ key: Key) -> PreparedReply? {
        guard let index = pages.firstIndex(where: { $0.key == key }) else { return nil }
        pages[index].isWanted = true
        return pages[index].reply
    }

    /// Keeps a page that was asked for when ``changes`` was `before`, unless something has changed since.
    /// `isWanted` tells whether a client has asked for it.
    mutating func keep(_ reply: PreparedReply, _ key: Key, askedAt before: Int, isWanted: Bool) {
        guard before == changes else { return }
        let known = pages.firstIndex { $0.key == key }.map { pages.remove(at: $0) }
        if pages.count >= Self.limit { pages.removeFirst() }
        pages.append(
            Kept(key: key, reply: reply, isWanted: isWanted || known?.isWanted == true))
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

    /// The account is another one than it was: its session has ended, or its settings have changed.
    mutating func removeAll() {
        changes += 1
        pages = []
    }
}
