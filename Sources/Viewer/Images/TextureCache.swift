/// The decoded images that were used last, up to a number of bytes.
nonisolated struct TextureCache<Key: Hashable & Sendable, Value> {
    nonisolated private struct Entry {
        let value: Value
        let byteCount: Int
        var lastUse: Int
    }

    private var entries: [Key: Entry] = [:]
    private var clock = 0
    private(set) var byteCount = 0
    private let limitBytes: Int

    init(limitBytes: Int) { self.limitBytes = limitBytes }

    mutating func value(_ key: Key) -> Value? {
        guard let value = entries[key]?.value else { return nil }
        clock += 1
        entries[key]?.lastUse = clock
        return value
    }

    /// Returns the images whose key meets a condition.
    func values(where isWanted: (Key) -> Bool) -> [Value] {
        entries.filter { isWanted($0.key) }.map(\.value.value)
    }

    mutating func insert(_ value: Value, _ key: Key, byteCount: Int) {
        remove(key)
        clock += 1
        entries[key] = Entry(value: value, byteCount: byteCount, lastUse: clock)
        self.byteCount += byteCount
        guard self.byteCount > limitBytes else { return }
        // Some at once, because the search takes time in proportion to the entries.
        for (key, _) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            guard self.byteCount > limitBytes * 3 / 4, entries.count > 1 else { break }
            remove(key)
        }
    }

    private mutating func remove(_ key: Key) {
        if let old = entries.removeValue(forKey: key) { byteCount -= old.byteCount }
    }
}
