internal import Glibc
package import ProviderKit
internal import Storage
internal import Synchronization

/// The source `memories`, which changes at midnight, and the properties of photos that depend on settings.
extension PictureFolder {
    /// The longest pause of the timer that detects a change of the date. The pauses are short, so that a changed clock or
    /// time zone, and a midnight during a suspend, are also detected.
    static let longestPause = Duration.seconds(900)

    /// The present date.
    var today: CalendarDate { presentDay().date }

    /// Starts or ends the watch of the source by a session.
    func setMemoriesWatched(_ isWatched: Bool, by listener: Int) {
        let today = today
        state.withLock { state in
            state.listeners[listener]?.watchesMemories = isWatched
            guard state.hasWatchedMemories else { return state.endTimer() }
            if state.memoriesDate == nil { state.memoriesDate = today }
            if state.timer == nil { state.timer = makeTimer() }
        }
    }

    /// Reports the change if the date has changed since the last call.
    ///
    /// - Parameter today: The date of the photos that a client reads; nil for the present date.
    func updateMemories(_ today: CalendarDate? = nil) {
        let today = today ?? self.today
        let before = state.withLock { state in
            defer { state.memoriesDate = today }
            return state.hasWatchedMemories && state.memoriesDate != today
                ? state.memoriesDate : nil
        }
        guard let before else { return }
        Task { @MainActor [weak self] in await self?.dateChanged(from: before, to: today) }
    }

    private func makeTimer() -> Task<Void, Never> {
        Task { @MainActor [weak self, clock] in
            while let pause = self?.pause {
                do { try await clock.sleep(for: pause) } catch { return }
                self?.updateMemories()
            }
        }
    }

    private var pause: Duration? {
        state.withLock(\.hasWatchedMemories) ? min(presentDay().rest, Self.longestPause) : nil
    }

    /// Creates a photo from the index, with its location if the user allows it.
    func photo(_ file: PictureIndex.File) -> Photo {
        Photo(file, showsLocation: state.withLock(\.settings.showsLocation))
    }

    /// Changes the settings. A scan removes and adds photos after a change of those that are shown; after other changes,
    /// clients are requested to read the photos again.
    func change(_ settings: LocalSettings) {
        let before = state.withLock { state in
            defer { state.settings = settings }
            return state.settings
        }
        if before.showsLocation != settings.showsLocation { allPhotosChanged {} }
        if before.filter != settings.filter { startScan() }
        guard before.order != settings.order else { return }
        allPhotosChanged { [store] in
            try await store.run { try PictureIndex($0).setOrder(settings.order) }
        }
    }

    /// Performs a change in the index, then requests that clients read the photos of each source again.
    private func allPhotosChanged(_ change: @escaping @MainActor () async throws -> Void) {
        Task { @MainActor in
            do {
                try await openIndex()
                try await change()
                let albums = try await readNow { try $0.albums().map(\.path) }
                emit(.changed([]))
                emitReordered([.root] + albums)
                for source in [LocalSource.likes, .memories] { emit(.updated(source.id, new: 0)) }
            } catch {
                recordFailure(error)
            }
        }
    }

    /// Reports that photos have other positions in folders, and in all photos.
    func emitReordered(_ folders: some Collection<RelativePath>) {
        var changes = IndexChanges()
        changes.reorder(Set(folders))
        for event in changes.sourceEvents { emit(event) }
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
    func captureDatesChanged(_ changes: [(before: CalendarDate?, after: CalendarDate?)]) {
        let today = today
        func isShown(_ date: CalendarDate?) -> Bool { date.map(today.isMemory) ?? false }
        let moved = changes.filter { isShown($0.before) != isShown($0.after) }
        guard !moved.isEmpty else { return }
        emit(.updated(LocalSource.memories.id, new: moved.count { isShown($0.after) }))
    }
}

extension CalendarDate {
    /// The day within a year: the month times 100 plus the day, in the form in which the index stores it.
    var monthAndDay: Int { month * 100 + day }

    /// The days of earlier years whose photos are shown on this date, in the form of ``monthAndDay``. In common years,
    /// the photos of 29 February are shown on 28 February.
    var daysOfMemories: [Int] {
        month == 2 && day == 28 && !Self.isLeapYear(year) ? [228, 229] : [monthAndDay]
    }

    /// Returns true if a photo that was taken on `other` is shown on this date.
    func isMemory(_ other: CalendarDate) -> Bool {
        other.year < year && daysOfMemories.contains(other.monthAndDay)
    }
}

/// The present date in the time zone of the computer, and the time until the next midnight, rounded up to whole seconds.
package typealias PresentDay = (date: CalendarDate, rest: Duration)

extension CalendarDate {
    /// Returns the present day of the system clock and the system's time zone. Called again whenever it is needed, because
    /// both may be changed at any time.
    package static func present() -> PresentDay { present(at: .now) }

    /// Returns the day of a time in the time zone of the process.
    ///
    /// The corresponding C function is `tzset`.
    static func present(at now: Timestamp) -> PresentDay {
        // Only this function reads a changed time zone.
        tzset()
        let date = CalendarDate(local: now)
        let midnight = Timestamp(localClockSeconds: Int64(date.dayNumber + 1) * 86_400)
        let rest = midnight.secondsSince1970 - now.secondsSince1970
        // No day is longer than 25 hours. In a time zone without this midnight, the day ends an hour later.
        return (date, .seconds(min(max(1, rest), 90_000)))
    }
}
