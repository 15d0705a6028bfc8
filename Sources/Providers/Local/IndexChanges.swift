internal import ProviderKit

/// What a scan has found to be other than the index said.
struct IndexChanges: Sendable {
    /// How many photos each folder has that were not known before.
    var new: [RelativePath: Int] = [:]
    /// How many known photos came to the top of each folder: moved there, or with a new date.
    var raised: [RelativePath: Int] = [:]
    /// How many known photos came to the top of all photos.
    var raisedInAll = 0
    /// Folders that a photo was moved out of, or is gone from.
    var left: Set<RelativePath> = []
    /// Known photos that are other than they were.
    var changed: Set<Int64> = []
    /// Those of them whose file was replaced or overwritten while its name was never free.
    var replaced: Set<Int64> = []
    /// Photos that are gone.
    var removed: [Int64] = []

    var isEmpty: Bool {
        new.isEmpty && raised.isEmpty && raisedInAll == 0 && left.isEmpty && changed.isEmpty
            && removed.isEmpty
    }

    /// How many photos are other than they were.
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

    /// What sessions tell of the changes.
    ///
    /// - Parameter photos: The photos of ``changed``, as they are now.
    /// - Returns: The events, in the order in which they are to be told.
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
