internal import ProviderKit

/// The differences between the index and the pictures folder that a scan has found.
struct IndexChanges: Sendable {
    /// The number of new photos in each folder.
    var new: [RelativePath: Int] = [:]
    /// The number of known photos that moved to the top of each folder: from another folder, or with a new date.
    var raised: [RelativePath: Int] = [:]
    /// The number of known photos that moved to the top of all photos.
    var raisedInAll = 0
    /// Folders from which a photo was moved or deleted.
    var left: Set<RelativePath> = []
    /// Known photos that have changed.
    var changed: Set<Int64> = []
    /// Changed photos whose file was replaced or overwritten while its name was never free.
    var replaced: Set<Int64> = []
    /// Photos that were deleted.
    var removed: [Int64] = []

    var isEmpty: Bool {
        new.isEmpty && raised.isEmpty && raisedInAll == 0 && left.isEmpty && changed.isEmpty
            && removed.isEmpty
    }

    /// The number of photos that have changed.
    var count: Int { newCount + changed.count + removed.count }

    var newCount: Int { new.values.reduce(0, +) }
}

extension IndexChanges {
    mutating func merge(_ other: IndexChanges) {
        new.merge(other.new, uniquingKeysWith: +)
        raised.merge(other.raised, uniquingKeysWith: +)
        raisedInAll += other.raisedInAll
        left.formUnion(other.left)
        changed.formUnion(other.changed)
        replaced.formUnion(other.replaced)
        removed += other.removed
    }

    /// Returns the events for sessions.
    ///
    /// - Parameter photos: The photos of ``changed`` in their present state.
    /// - Returns: The events in the order in which to emit them.
    func events(_ photos: [Photo]) -> [SessionEvent] {
        var events: [SessionEvent] = []
        if !removed.isEmpty { events.append(.removed(removed.map(PhotoID.init(row:)))) }
        if !photos.isEmpty { events.append(.changed(photos)) }
        let arrived = newCount + raisedInAll
        if arrived > 0 { events.append(.updated(LocalSource.all.id, new: arrived)) }
        for folder in left.union(new.keys).union(raised.keys) where folder != .root {
            let count = new[folder, default: 0] + raised[folder, default: 0]
            events.append(.updated(LocalSource.album(folder).id, new: count))
        }
        return events
    }
}
