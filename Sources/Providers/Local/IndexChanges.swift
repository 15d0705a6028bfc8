internal import ProviderKit

/// The differences between the index and the pictures folder that a scan has found.
struct IndexChanges: Sendable {
    /// The new photos, with their folders.
    private(set) var added: [Int64: RelativePath] = [:]
    /// The folder of the last new photo. The photos of a folder share its bytes.
    private var lastFolder = RelativePath.root
    /// The number of known photos that moved to each folder from another one; 0 for a folder from which photos were only
    /// moved or deleted, or in which they have other positions.
    private var moved: [RelativePath: Int] = [:]
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
        added.isEmpty && moved.isEmpty && !isReordered && changed.isEmpty && removed.isEmpty
            && gainedLikes.isEmpty
    }

    /// The number of photos that have changed.
    var count: Int { added.count + changed.count + removed.count }

    /// Records a new photo.
    mutating func add(_ id: Int64, in folder: RelativePath) {
        if folder != lastFolder { lastFolder = folder }
        added[id] = lastFolder
    }

    /// Records that a known photo was moved to another folder.
    mutating func move(from former: RelativePath, to folder: RelativePath) {
        moved[folder, default: 0] += 1
        moved[former, default: 0] += 0
    }

    /// Records the former and the new position of a known photo.
    mutating func reposition(in folder: RelativePath, from former: Int64, to position: Int64) {
        if position != former { reorder([folder]) }
    }

    /// Records that known photos moved within their folders.
    mutating func reorder(_ folders: Set<RelativePath>) {
        for folder in folders { moved[folder, default: 0] += 0 }
        if !folders.isEmpty { isReordered = true }
    }

    /// Records that a photo was deleted from a folder.
    mutating func remove(_ id: Int64, from folder: RelativePath?) {
        changed.remove(id)
        if let folder { moved[folder, default: 0] += 0 }
        guard added.removeValue(forKey: id) == nil else { return isReordered = true }
        removed.append(id)
    }

    mutating func merge(_ other: IndexChanges) {
        added.merge(other.added) { $1 }
        moved.merge(other.moved, uniquingKeysWith: +)
        isReordered = isReordered || other.isReordered
        changed.formUnion(other.changed)
        gainedLikes.merge(other.gainedLikes, uniquingKeysWith: +)
        removed += other.removed
    }

    /// The events about sources, which follow those about photos.
    var sourceEvents: [SessionEvent] {
        var events: [SessionEvent] = []
        if !added.isEmpty || isReordered {
            events.append(.updated(LocalSource.all.id, new: added.count))
        }
        let arrivedIn = added.values.reduce(into: moved) { $0[$1, default: 0] += 1 }
        for (folder, count) in arrivedIn where folder != .root {
            events.append(.updated(LocalSource.album(folder).id, new: count))
        }
        return events
    }
}
