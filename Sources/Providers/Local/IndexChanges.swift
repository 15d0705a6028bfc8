internal import ProviderKit

/// The differences between the index and the pictures folder that a scan has found.
struct IndexChanges: Sendable {
    /// The new photos, with their folders.
    private(set) var added: [Int64: RelativePath] = [:]
    /// The number of known photos that moved to the top of each folder: from another folder, or with a new date; 0 for a
    /// folder from which photos were only moved or deleted.
    private var raised: [RelativePath: Int] = [:]
    /// The number of known photos that moved to the top of all photos.
    private var raisedInAll = 0
    /// True if known photos moved within all photos, or if photos were deleted that were added since the last report, which
    /// a client may have read in between.
    private var isReordered = false
    /// Known photos that have changed.
    var changed: Set<Int64> = []
    /// Photos that were deleted.
    private(set) var removed: [Int64] = []
    /// The number of photos that each user with changed likes likes in addition, by ``UserName/key``.
    var gainedLikes: [String: Int] = [:]

    var isEmpty: Bool {
        added.isEmpty && raised.isEmpty && !isReordered && changed.isEmpty && removed.isEmpty
            && gainedLikes.isEmpty
    }

    /// The number of photos that have changed.
    var count: Int { added.count + changed.count + removed.count }
}

extension IndexChanges {
    /// Records a new photo.
    mutating func add(_ id: Int64, in folder: RelativePath) { added[id] = folder }

    /// Records that a known photo was moved to another folder.
    mutating func move(from former: RelativePath, to folder: RelativePath) {
        raised[folder, default: 0] += 1
        raised[former, default: 0] += 0
    }

    /// Records the former and the new position of a known photo. A greater position is nearer to the top.
    mutating func reposition(in folder: RelativePath, from former: Int64, to position: Int64) {
        guard position != former else { return }
        let count = position > former ? 1 : 0
        raised[folder, default: 0] += count
        raisedInAll += count
        isReordered = true
    }

    /// Records that known photos moved within their folders.
    mutating func reorder(_ folders: Set<RelativePath>) {
        for folder in folders { raised[folder, default: 0] += 0 }
        if !folders.isEmpty { isReordered = true }
    }

    /// Records that a photo was deleted from a folder.
    mutating func remove(_ id: Int64, from folder: RelativePath?) {
        changed.remove(id)
        if let folder { raised[folder, default: 0] += 0 }
        guard added.removeValue(forKey: id) == nil else { return isReordered = true }
        removed.append(id)
    }

    mutating func merge(_ other: IndexChanges) {
        added.merge(other.added) { $1 }
        raised.merge(other.raised, uniquingKeysWith: +)
        raisedInAll += other.raisedInAll
        isReordered = isReordered || other.isReordered
        changed.formUnion(other.changed)
        gainedLikes.merge(other.gainedLikes, uniquingKeysWith: +)
        removed += other.removed
    }

    /// The events about sources, which follow those about photos.
    var sourceEvents: [SessionEvent] {
        var events: [SessionEvent] = []
        let arrived = added.count + raisedInAll
        if arrived > 0 || isReordered { events.append(.updated(LocalSource.all.id, new: arrived)) }
        let arrivedIn = added.values.reduce(into: raised) { $0[$1, default: 0] += 1 }
        for (folder, count) in arrivedIn where folder != .root {
            events.append(.updated(LocalSource.album(folder).id, new: count))
        }
        return events
    }
}
