internal import System

/// The finished logins or transfers that are retained for late callers, in the order of their ends.
final class FinishedItems<Item: AnyObject> {
    /// The largest number of items of one client.
    static var maximumCountPerClient: Int { 32 }
    /// The largest number of items of all clients.
    static var maximumCount: Int { 128 }

    private var items: [(item: Item, client: String, retention: Task<Void, Never>)] = []
    private let clock: any Clock<Duration>
    private let time: Duration
    private let onSurplus: (Item) -> Void

    /// - Parameters:
    ///   - clock: Measures the time.
    ///   - time: The time for which an item is retained.
    ///   - onSurplus: Called for an item whose time has passed, and for the oldest ones beyond the limits. It calls
    ///     ``remove(_:)``.
    init(_ clock: any Clock<Duration>, time: Duration, onSurplus: @escaping (Item) -> Void) {
        self.clock = clock
        self.time = time
        self.onSurplus = onSurplus
    }

    /// Adds an item that has just finished.
    func append(_ item: Item, of client: String) {
        let retention = clock.after(time) { [weak self, weak item] in
            if let item { self?.onSurplus(item) }
        }
        items.append((item, client, retention))
        let own = items.filter { $0.client == client }
        if own.count > Self.maximumCountPerClient { onSurplus(own[0].item) }
        while items.count > Self.maximumCount { onSurplus(items[0].item) }
    }

    func remove(_ item: Item) {
        guard let index = items.firstIndex(where: { $0.item === item }) else { return }
        items.remove(at: index).retention.cancel()
    }
}
