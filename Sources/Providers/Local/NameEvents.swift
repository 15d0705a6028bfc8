internal import Glibc
internal import System

/// The events at names, which show whether a file was replaced while its name was never free, as editors do it, and where
/// a file was moved.
struct NameEvents {
    /// A move of a file or folder from a path.
    ///
    /// `wasFree` is true if the name was free before, and nil if no event shows that. `places` has the paths before the
    /// move of the file, or of those in the folder, by their paths at the last scan.
    private typealias Move = (
        cookie: UInt32, from: RelativePath, wasFree: Bool?, places: [RelativePath: RelativePath]
    )

    /// True for names that were free.
    private var wasFree: [RelativePath: Bool] = [:]
    /// The present paths of files and folders that were moved, by their paths at the last scan.
    private var moves: [RelativePath: RelativePath] = [:]
    /// The last move, before and after its new path is known.
    private var lastMove: Move?
    private var lastRename: (from: RelativePath, to: RelativePath, wasFree: Bool?)?
    /// True if events were lost since the last scan of everything.
    var areLost = false

    init(areLost: Bool = false) { self.areLost = areLost }

    /// The paths to which files and folders were moved.
    var destinations: Set<RelativePath> { Set(moves.values) }

    /// Returns true if the name of a file or of a folder above it was free, false if events show that the name of the file
    /// was not; nil if no event does.
    func wasFree(_ path: RelativePath, _ later: NameEvents) -> Bool? {
        guard !areLost, !later.areLost else { return nil }
        if path.isOrIsBelow(where: { wasFree[$0] == true || later.wasFree[$0] == true }) {
            return true
        }
        return wasFree[path] ?? later.wasFree[path]
    }

    /// Returns the path to which the file that was at a path at the last scan was moved, also with its folder; nil if no
    /// events show that.
    func destination(of path: RelativePath) -> RelativePath? {
        guard !areLost else { return nil }
        if let place = moves[path] { return place }
        guard wasFree[path] != true, let (folder, name) = path.split else { return nil }
        return destination(of: folder)?.appending(name)
    }

    // MARK: Recording

    /// Records an event at a name. A hidden name may be one of a file between two others.
    mutating func record(_ path: RelativePath, _ event: Inotify.Event) {
        let isMove = event.has(IN_MOVED_FROM)
        let isFree = isMove || event.has(IN_DELETE)
        if isFree {
            let places = takePlaces(path)
            if isMove {
                lastMove = (event.cookie, path, wasFree[path], places)
            } else {
                lastRename = nil
            }
        } else if let lastMove, lastMove.cookie == event.cookie {
            complete(lastMove, path)
        }
        if !path.isHidden { record(path, isFree: isFree) }
    }

    private mutating func record(_ path: RelativePath, isFree: Bool) {
        wasFree[path] = wasFree[path] == true || isFree
    }

    /// Records the new path of a file. Its name did not become free if the file becomes a backup, as by an editor that
    /// writes the new file then, or if both files were exchanged, which is reported as two moves.
    private mutating func complete(_ move: Move, _ path: RelativePath) {
        guard !path.isBackup(of: move.from) else {
            wasFree[move.from] = move.wasFree ?? false
            return moves.merge(move.places) { $1 }
        }
        for (file, place) in move.places {
            let rest = place.bytes.dropFirst(move.from.bytes.count)
            moves[file] = RelativePath(bytes: path.bytes + rest)
        }
        if let last = lastRename, last.from == path, last.to == move.from {
            for (name, isFree) in [(path, last.wasFree), (move.from, move.wasFree)]
            where !name.isHidden {
                wasFree[name] = isFree ?? false
            }
            lastRename = nil
        } else {
            lastRename = (move.from, path, move.wasFree)
        }
    }

    /// Removes and returns the known files and folders at a path that becomes free, or below it.
    private mutating func takePlaces(_ path: RelativePath) -> [RelativePath: RelativePath] {
        var places = moves.filter { $0.value.isAt(orBelow: path) }
        for file in places.keys { moves[file] = nil }
        if !path.isHidden, !path.isOrIsBelow(where: { wasFree[$0] == true }) { places[path] = path }
        return places
    }

    // MARK: Scans

    /// Removes and returns the events at paths.
    mutating func take(_ isTaken: (RelativePath) -> Bool) -> NameEvents {
        var taken = NameEvents()
        taken.wasFree = wasFree.filter { isTaken($0.key) }
        wasFree = wasFree.filter { !isTaken($0.key) }
        taken.moves = moves.filter { isTaken($0.key) }
        moves = moves.filter { !isTaken($0.key) }
        lastRename = nil
        return taken
    }

    /// Adds the events at paths that a scan could not use.
    mutating func restore(_ events: NameEvents, _ isRestored: (RelativePath) -> Bool) {
        // A file that has left its new path since is not there any more.
        for (path, place) in events.moves where isRestored(path) && wasFree[place] != true {
            moves[path] = moves[path] ?? place
        }
        for (path, isFree) in events.wasFree where isRestored(path) { record(path, isFree: isFree) }
    }
}
