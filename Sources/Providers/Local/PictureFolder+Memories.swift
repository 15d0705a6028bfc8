internal import ProviderKit
internal import Synchronization

/// The source `memories`, and the properties of photos that depend on settings.
extension PictureFolder {
    /// Creates a photo from the index, with its location if the user allows it.
    func photo(_ picture: PictureIndex.Picture) -> Photo {
        Photo(picture, showsLocation: showsLocation.load(ordering: .relaxed))
    }

    /// Creates a photo from the index, with its location if the user allows it.
    func photo(_ entry: PictureIndex.PageEntry) -> Photo {
        Photo(entry, showsLocation: showsLocation.load(ordering: .relaxed))
    }

    /// Shows or hides the locations of photos from now on, and requests that clients read the photos again.
    func setShowsLocation(_ isShown: Bool) {
        guard showsLocation.exchange(isShown, ordering: .relaxed) != isShown else { return }
        emit(.changed([]))
        emit(.updated(LocalSource.all.id, new: 0))
    }

    /// Emits an event if the photos of two dates differ.
    func dateChanged(from before: CalendarDate, to after: CalendarDate) async {
        guard before.daysOfMemories != after.daysOfMemories || before.year != after.year else {
            return
        }
        let counts = try? await readNow { index in
            (before: try index.countMemories(of: before), after: try index.countMemories(of: after))
        }
        guard let counts else { return }
        if before.daysOfMemories == after.daysOfMemories {
            // Only the year of the clock has changed.
            guard counts.before != counts.after else { return }
            emit(.updated(LocalSource.memories.id, new: max(0, counts.after - counts.before)))
        } else if counts.before > 0 || counts.after > 0 {
            emit(.updated(LocalSource.memories.id, new: counts.after))
        }
    }

    /// Emits an event if photos came to the source or left it.
    func captureDatesChanged(_ changes: [PictureIndex.DateChange]) {
        let today = memories.date
        var (added, removed) = (0, 0)
        for change in changes {
            let wasShown = change.before.map(today.isMemory) ?? false
            let isShown = change.after.map(today.isMemory) ?? false
            if isShown, !wasShown { added += 1 }
            if wasShown, !isShown { removed += 1 }
        }
        if added > 0 || removed > 0 { emit(.updated(LocalSource.memories.id, new: added)) }
    }
}
