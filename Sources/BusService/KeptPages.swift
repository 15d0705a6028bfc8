internal import DBus

/// The pages that were asked for lately, marshalled: a widget that asks again gets a copy.
///
/// A value that decides; it keeps a handful, since widgets show the top of few feeds.
struct KeptPages {
    struct Key: Hashable {
        let source: String
        let cursor: String
        let count: UInt32
    }

    /// How many pages of one account are kept.
    static let limit = 4

    private var pages: [(key: Key, reply: PreparedReply)] = []
    private var generation = 0

    /// Finds a page, if nothing has changed since it was made.
    mutating func find(_ key: Key, generation: Int) -> PreparedReply? {
        guard generation == self.generation else {
            pages = []
            return nil
        }
        return pages.last { $0.key == key }?.reply
    }

    /// Keeps a page that was asked for at `generation`, unless something has changed since.
    mutating func keep(_ reply: PreparedReply, _ key: Key, askedAt generation: Int, now: Int) {
        if now != self.generation { pages = [] }
        self.generation = now
        guard generation == now else { return }
        pages.removeAll { $0.key == key }
        if pages.count >= Self.limit { pages.removeFirst() }
        pages.append((key, reply))
    }
}
