internal import ProviderKit

/// The differences between the index and the pictures folder that a scan has found.
struct IndexChanges: Sendable {
    /// The number of new photos in each folder.
    private(set) var new: [RelativePath: Int] = [:]
    /// The new photos.
    private(set) var added: [Int64: RelativePath] = [:]
    /// The number of known photos that moved to the top of each folder: from another folder, or with a new date.
    var raised: [RelativePath: Int] = [:]
    /// The number of known photos that moved to the top of all photos.
    var raisedInAll = 0
    /// Folders from which a photo was moved or deleted.
    var left: Set<RelativePath> = []
    /// Known photos that have changed.
    var changed: Set<Int64> = []
    /// Photos that were deleted.
    private(set) var removed: [Int64] = []
    /// The number of photos that each user with changed likes likes in addition, by ``UserName/key``.
    var gainedLikes: [String: Int] = [:]

    var isEmpty: Bool {
        new.isEmpty && raised.isEmpty && raisedInAll == 0 && left.isEmpty && changed.isEmpty
            && removed.isEmpty && gainedLikes.isEmpty
    }

    /// The number of photos that have changed.
    var count: Int { newCount + changed.count + removed.count }

    var newCount: Int { new.values.reduce(0, +) }
}

extension IndexChanges {
    /// Records a new photo.
    mutating func add(_ id: Int64, in folder: RelativePath) {
        new[folder, default: 0] += 1
        added[id] = folder
    }

    /// Records that a photo was deleted from a folder. Clients do not know one that was added since the last report.
    mutating func remove(_ id: Int64, from folder: RelativePath?) {
        changed.remove(id)
        if let folder = added.removeValue(forKey: id) {
            new[folder] = new[folder].flatMap { $0 > 1 ? $0 - 1 : nil }
        } else {
            removed.append(id)
            if let folder { left.insert(folder) }
        }
    }

    mutating func merge(_ other: IndexChanges) {
        new.merge(other.new, uniquingKeysWith: +)
        added.merge(other.added) { $1 }
        raised.merge(other.raised, uniquingKeysWith: +)
        raisedInAll += other.raisedInAll
        left.formUnion(other.left)
        changed.formUnion(other.changed)
        gainedLikes.merge(other.gainedLikes, uniquingKeysWith: +)
        removed += other.removed
    }

    /// The events about sources, which follow those about photos.
    var sourceEvents: [SessionEvent] {
        var events: [SessionEvent] = []
        let arrived = newCount + raisedInAll
        if arrived > 0 { events.append(.updated(LocalSource.all.id, new: arrived)) }
        for folder in left.union(new.keys).union(raised.keys) where folder != .root {
            let count = new[folder, default: 0] + raised[folder, default: 0]
            events.append(.updated(LocalSource.album(folder).id, new: count))
        }
        return events
    }
}
