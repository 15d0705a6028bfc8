/// The finished logins or transfers that are retained for a limited time, in the order of their ends.
struct FinishedItems<Item: AnyObject> {
    /// The largest number of items of one client.
    static var maximumCountPerClient: Int { 32 }
    /// The largest number of items of all clients.
    static var maximumCount: Int { 128 }

    private var items: [(item: Item, client: String)] = []

    /// Adds an item that has just finished.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - client: The client that started it.
    /// - Returns: The items to remove now: the oldest items beyond the limits.
    mutating func append(_ item: Item, of client: String) -> [Item] {
        items.append((item, client))
        var surplus: [Item] = []
        if items.count(where: { $0.client == client }) > Self.maximumCountPerClient,
            let index = items.firstIndex(where: { $0.client == client })
        {
            surplus.append(items.remove(at: index).item)
        }
        while items.count > Self.maximumCount { surplus.append(items.removeFirst().item) }
        return surplus
    }

    /// Removes an item.
    mutating func remove(_ item: Item) { items.removeAll { $0.item === item } }
}
