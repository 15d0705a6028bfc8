internal import DBus
internal import Engine
internal import ProviderKit

/// The marshalled replies of the recent pages of an account, which are copied for later callers.
///
/// A value that decides. It has few pages, because widgets show the first pages of few sources.
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
        /// True if a client requested the page after it was made because of a change.
        var isWanted: Bool
        /// The time at which the reply was prepared, if it expires.
        var prepared: Timestamp?
    }

    /// The time for which a page of a remote account is kept. When it is made again, its parts that are old are
    /// refreshed. The top of the source is refreshed with each read, if it is old.
    static let retention = Duration.seconds(300)

    /// The maximum number of pages of an account.
    static let limit = 4

    /// The maximum size of the replies of an account, in bytes. A larger page is not stored.
    static let maximumBytes = 2 << 20

    /// The maximum size of the replies of all accounts, in bytes.
    static let maximumTotalBytes = 16 << 20

    /// Chooses the accounts whose replies are discarded to bring the total below its limit: those with the largest
    /// sizes.
    ///
    /// - Parameters:
    ///   - sizes: The sizes of the replies.
    ///   - account: An account that keeps its replies.
    /// - Returns: The accounts.
    static func largest(
        of sizes: [AccountID: Int], keeping account: AccountID
    ) -> [AccountID] {
        var excess = sizes.values.reduce(-maximumTotalBytes, +)
        guard excess > 0 else { return [] }
        var chosen: [AccountID] = []
        for (id, size) in sizes.sorted(by: { $0.value > $1.value })
        where id != account && excess > 0 {
            excess -= size
            chosen.append(id)
        }
        return chosen
    }

    /// The size of the replies, in bytes.
    var bytes: Int { pages.reduce(0) { $0 + ($1.reply?.bytes ?? 0) } }

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

    /// Stores a page, unless something has changed since it was requested, or the page is too large.
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
        guard reply.bytes <= Self.maximumBytes else { return }
        while pages.count >= Self.limit || bytes + reply.bytes > Self.maximumBytes {
            pages.removeFirst()
        }
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

    /// Discards the replies, to free memory. The pages that clients read are made again after the next change.
    mutating func discardReplies() {
        for index in pages.indices { pages[index].reply = nil }
    }

    /// Discards all pages, because the session or its settings changed.
    mutating func removeAll() {
        changes += 1
        pages = []
    }
}
