internal import DBus
internal import EngineCore
internal import EngineModel
internal import ProviderKit

/// The marshalled replies of the recent pages of an account, which are copied for later callers.
///
/// The cache has few pages, because widgets show the first pages of few sources.
nonisolated struct PreparedPageCache {
    struct Key: Hashable, Sendable {
        let source: SourceID
        let cursor: String
        let count: UInt32
    }

    private struct Entry {
        let key: Key
        /// The reply; nil after a change that may concern the page.
        var reply: PreparedReply?
        /// True if a client requested the page since the last change of its source.
        var isWanted: Bool
        /// The time at which the reply was prepared, if it expires.
        var prepared: Timestamp?
    }

    /// The time for which a page of a remote account is stored. When the page is created again, its old parts are
    /// refreshed. The top of the source is refreshed with each read, if it is old.
    static let retention = Duration.seconds(300)

    /// The maximum number of pages of an account.
    static let limit = 4

    /// The maximum size of the replies of an account, in bytes. A larger page is not stored.
    static let maximumBytes = 2 << 20

    /// The maximum size of the replies of all accounts, in bytes.
    static let maximumTotalBytes = 16 << 20

    /// Selects the accounts with the largest replies, whose replies are discarded if the total exceeds its limit.
    ///
    /// - Parameters:
    ///   - sizes: The sizes of the replies.
    ///   - account: An account that is not selected.
    /// - Returns: The accounts.
    static func largest(of sizes: [AccountID: Int], keeping account: AccountID) -> [AccountID] {
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

    private var pages: [Entry] = []
    /// The number of changes so far. A page that was requested before a change may be outdated.
    private(set) var changes = 0

    /// Returns the reply of a page for a client, and records that a client requested the page.
    ///
    /// - Parameters:
    ///   - key: The page.
    ///   - now: The current time.
    /// - Returns: The reply; nil if the page must be created because it is not stored, has expired or may have changed.
    mutating func find(_ key: Key, now: @autoclosure () -> Timestamp) -> PreparedReply? {
        guard let index = pages.firstIndex(where: { $0.key == key }) else { return nil }
        pages[index].isWanted = true
        if let prepared = pages[index].prepared {
            let now = now()
            guard prepared <= now, now < prepared + Self.retention else { return nil }
        }
        return pages[index].reply
    }

    /// Stores a page, unless a change occurred since the request, or the page is too large.
    ///
    /// - Parameters:
    ///   - reply: The reply.
    ///   - key: The page.
    ///   - before: The value of ``changes`` at the time of the request.
    ///   - isWanted: True if a client requested the page.
    ///   - now: The current time for a page of a remote account; nil for a page that does not expire.
    mutating func store(
        _ reply: PreparedReply, _ key: Key, requestedAt before: Int, isWanted: Bool,
        now: Timestamp? = nil
    ) {
        guard before == changes else { return }
        let known = pages.firstIndex { $0.key == key }.map { pages.remove(at: $0) }
        guard reply.bytes <= Self.maximumBytes else { return }
        while pages.count >= Self.limit || bytes + reply.bytes > Self.maximumBytes {
            pages.removeFirst()
        }
        pages.append(
            Entry(
                key: key, reply: reply, isWanted: isWanted || known?.isWanted == true,
                prepared: now))
    }

    /// Records that a client requests a page in progress.
    mutating func recordRequest(_ key: Key) {
        guard let index = pages.firstIndex(where: { $0.key == key }) else { return }
        pages[index].isWanted = true
    }

    /// Discards the replies of a source, because photos were added at its top or have left it.
    ///
    /// - Returns: The first pages of the source that clients have requested since the last change. The clients will
    ///   request them again after the signal of the change.
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

    /// Discards all replies, because photos of any source changed or were removed.
    mutating func changeOfPhotos() {
        changes += 1
        for index in pages.indices { pages[index].reply = nil }
    }

    /// Discards the replies, to free memory. The pages that clients have read are created again after the next change.
    mutating func discardReplies() {
        for index in pages.indices { pages[index].reply = nil }
    }

    /// Discards all pages, because a session, its settings or the accounts changed.
    mutating func removeAll() {
        changes += 1
        pages = []
    }
}
