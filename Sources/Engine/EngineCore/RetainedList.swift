internal import System

/// A login or a transfer, which is retained for late callers after its end.
protocol RetainedItem: AnyObject {
    /// The largest number of unfinished items of one client.
    static var maximumUnfinishedPerClient: Int { get }
    /// The largest number of unfinished items of all clients.
    static var maximumUnfinished: Int { get }
    /// The client that started the item.
    var client: String { get }
    /// True if all work of the item has ended.
    var isOver: Bool { get }
}

/// The logins or the transfers: the unfinished ones, and the finished ones for a minute.
final class RetainedList<Item: RetainedItem> {
    /// The time for which a finished item is retained.
    static var retentionTime: Duration { .seconds(60) }
    /// The largest number of finished items of one client.
    static var maximumCountPerClient: Int { 1024 }
    /// The largest number of finished items of all clients.
    static var maximumCount: Int { 2048 }

    /// The items in the order of their start.
    private(set) var all: [Item] = []
    private var lastNumber = 0
    /// The finished items in the order of their ends.
    private var finished: [(item: Item, retention: Task<Void, Never>)] = []
    private let clock: any Clock<Duration>
    private let onRemoval: (Item) -> Void

    /// - Parameters:
    ///   - clock: Measures the time.
    ///   - onRemoval: Called when a finished item was removed.
    init(_ clock: any Clock<Duration>, onRemoval: @escaping (Item) -> Void) {
        self.clock = clock
        self.onRemoval = onRemoval
    }

    /// Returns true if a client may start an item.
    func hasRoom(for client: String) -> Bool {
        let unfinished = all.filter { !$0.isOver }
        return unfinished.count < Item.maximumUnfinished
            && unfinished.count { $0.client == client } < Item.maximumUnfinishedPerClient
    }

    /// Adds an item, which is created with its number.
    func add(_ create: (_ number: Int) -> Item) -> Item {
        lastNumber += 1
        let item = create(lastNumber)
        all.append(item)
        return item
    }

    /// Limits the number and the time of the finished items after the end of one.
    func finish(_ item: Item) {
        let retention = clock.after(Self.retentionTime) { [weak self, weak item] in
            if let item { self?.remove(item) }
        }
        finished.append((item, retention))
        let own = finished.filter { $0.item.client == item.client }
        if own.count > Self.maximumCountPerClient { remove(own[0].item) }
        while finished.count > Self.maximumCount { remove(finished[0].item) }
    }

    private func remove(_ item: Item) {
        guard let index = finished.firstIndex(where: { $0.item === item }) else { return }
        finished.remove(at: index).retention.cancel()
        all.removeAll { $0 === item }
        onRemoval(item)
    }
}
