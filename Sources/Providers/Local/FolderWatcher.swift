internal import CLinux
internal import Dispatch
internal import Glibc
internal import Synchronization
internal import System

/// A watcher of folders that reports changes in bursts, with a short delay.
///
/// Source: inotify(7). The kernel watches single folders, so each folder below the pictures folder has a watch.
final class FolderWatcher: Sendable {
    /// A name in a folder whose file may be new, changed or deleted.
    struct Entry: Hashable, Sendable {
        let path: RelativePath
        /// True if the file is complete, according to the events: a new file is complete when its writer closes it.
        var isClosed = true
        /// True if only attributes have changed, such as the permissions or the modification time.
        var hasOnlyAttributes = false
    }

    /// The changes since the last report.
    enum Change: Sendable {
        case entries([Entry])
        /// Events were lost, or there are too many changes: everything must be scanned.
        case everything
        /// The permissions of the pictures folder may have changed.
        case rootAttributes
        /// A file system may have been mounted or unmounted.
        case mounts
    }

    private struct State {
        var paths: [Int32: RelativePath] = [:]
        var watches: [RelativePath: Int32] = [:]
        /// The names outside of the tree that links lead to, by the watch of their folder. The pictures folder itself
        /// is one of the links while it is a link or does not exist.
        var targets: [Int32: [[UInt8]: Set<RelativePath>]] = [:]
        /// The watches of each link, and the absolute path to which it leads.
        var links: [RelativePath: (watches: Set<Int32>, target: [UInt8])] = [:]
        /// The changed names, by their paths.
        var changed: [RelativePath: Entry] = [:]
        /// The events that no scan has used yet.
        var events = NameEvents()
        /// The files of each watch that were created and not closed since.
        var unclosed: [Int32: Set<[UInt8]>] = [:]
        var needsFullScan = false
        var hasRootAttributes = false
        var firstEvent: DispatchTime?
        var isReportScheduled = false
        /// The folders that could not be watched, because the user has no more watches.
        var unwatched: Set<RelativePath> = []
        /// nil after ``stop()``.
        var inotify: Inotify?

        func isUnclosed(_ path: RelativePath) -> Bool {
            guard let (folder, name) = path.split, let watch = watches[folder] else { return false }
            return unclosed[watch]?.contains(name) == true
        }

        /// Adds a changed name. A change of the pictures folder itself requires a scan of everything.
        mutating func add(_ entry: Entry) {
            guard entry.path != .root else { return requireFullScan() }
            guard !needsFullScan else { return }
            var entry = entry
            if changed[entry.path]?.hasOnlyAttributes == false { entry.hasOnlyAttributes = false }
            changed[entry.path] = entry
            if changed.count > FolderWatcher.maximumEntries { requireFullScan() }
        }

        /// Records that everything must be scanned. The events until then are no evidence.
        mutating func requireFullScan() {
            needsFullScan = true
            events = NameEvents(areLost: true)
        }
    }

    private static let events =
        IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB
        | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
    /// The time without events after which a burst has ended.
    private static let quietPeriod = DispatchTimeInterval.milliseconds(200)
    /// The time after which a burst is reported even if it continues.
    private static let burstTimeout = DispatchTimeInterval.milliseconds(1000)
    /// The age in seconds after which a modified file counts as closed, if its close was not observed.
    static let closedAfterSeconds: Int64 = 5
    /// The number of changes above which ``Change/everything`` is reported.
    private static let maximumEntries = 10_000

    private let queue = DispatchQueue(label: "folder-watcher")
    // `nonisolated(unsafe)`: Dispatch sources may be used from any thread.
    nonisolated(unsafe) private let source: (any DispatchSourceRead)?
    // `nonisolated(unsafe)`: Dispatch sources may be used from any thread.
    nonisolated(unsafe) private let mounts: (any DispatchSourceRead)?
    private let state = Mutex(State())
    private let report: @Sendable (Change) -> Void

    /// Starts the watcher. It watches no folders yet. If the user has no more inotify instances, it never reports
    /// changes.
    ///
    /// - Parameter report: Called on a queue of the watcher.
    init(report: @escaping @Sendable (Change) -> Void) {
        self.report = report
        let inotify = Inotify()
        source = inotify.map { [queue] in
            DispatchSource.makeReadSource(fileDescriptor: $0.descriptor, queue: queue)
        }
        state.withLock { $0.inotify = inotify }
        mounts = Self.mountSource(queue)
        mounts?.setEventHandler { [weak self] in self?.mountsChanged() }
        mounts?.activate()
        source?.setEventHandler { [weak self] in self?.readEvents() }
        // The descriptor must stay open until the source has been cancelled.
        source?.setCancelHandler { withExtendedLifetime(inotify) {} }
        source?.activate()
    }

    deinit { stop() }

    /// Stops the watcher. It reports no more changes.
    func stop() {
        state.withLock { $0.inotify = nil }
        source?.cancel()
        mounts?.cancel()
    }

    /// Creates a source that fires after each mount and unmount.
    ///
    /// Source: proc_pid_mountinfo(5). `poll` reports a change as POLLPRI, which sources of libdispatch do not wait for,
    /// and the file can always be read. A descriptor of epoll that waits for POLLPRI can be read after a change.
    private static func mountSource(_ queue: DispatchQueue) -> (any DispatchSourceRead)? {
        let file = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        let poll = epoll_create1(Int32(EPOLL_CLOEXEC))
        var event = epoll_event()
        event.events = EPOLLPRI.rawValue | EPOLLET.rawValue
        guard file >= 0, poll >= 0, epoll_ctl(poll, EPOLL_CTL_ADD, file, &event) == 0 else {
            if file >= 0 { close(file) }
            if poll >= 0 { close(poll) }
            return nil
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: poll, queue: queue)
        source.setCancelHandler {
            close(poll)
            close(file)
        }
        return source
    }

    private func mountsChanged() {
        if let poll = mounts.map({ Int32($0.handle) }) {
            var event = epoll_event()
            epoll_wait(poll, &event, 1, 0)
        }
        report(.mounts)
    }

    /// The limit of the kernel that prevents that changes of some folders are reported; nil if all are.
    var exceededLimit: String? {
        guard source != nil else { return "fs.inotify.max_user_instances" }
        return state.withLock(\.unwatched).isEmpty ? nil : "fs.inotify.max_user_watches"
    }

    /// Returns true if changes of a folder are not reported because of ``exceededLimit``.
    func isUnwatched(_ path: RelativePath) -> Bool {
        source == nil || state.withLock { $0.unwatched.contains(path) }
    }

    /// Watches the folder with the absolute path `absolute`, which is `path` in the pictures folder. May block while
    /// the file system does not respond.
    func watch(_ path: RelativePath, at absolute: [UInt8]) {
        guard let inotify = state.withLock(\.inotify) else { return }
        // The lock is not held, because the file system may not respond.
        let watch = inotify.add(PathBytes(bytes: absolute), Self.events | IN_EXCL_UNLINK)
        let code = errno
        state.withLock { state in
            guard state.inotify != nil else { return }
            guard let watch else {
                if code == ENOSPC { state.unwatched.insert(path) }
                return
            }
            state.unwatched.remove(path)
            if let other = state.paths[watch] { state.watches[other] = nil }
            state.paths[watch] = path
            state.watches[path] = watch
        }
    }

    /// Watches the names that decide what a path leads to: the target of each link on the way, or the first folder on
    /// the way that does not exist. May block while the file system does not respond.
    ///
    /// - Parameters:
    ///   - path: The path of a link, or of the pictures folder, which is reported after a change.
    ///   - absolute: Its absolute path.
    func watchTarget(of path: RelativePath, at absolute: [UInt8]) {
        var watched: Set<Int32> = []
        // A missing folder may appear before the folder above it is watched. Then it is watched, too.
        while let watches = watchNearest(of: path, at: absolute), watches != watched {
            watched = watches
        }
    }

    /// Watches the names once.
    ///
    /// - Returns: The watches if the folder of a name does not exist, so that a folder above it is watched; otherwise
    ///   nil.
    private func watchNearest(of path: RelativePath, at absolute: [UInt8]) -> Set<Int32>? {
        guard let inotify = state.withLock(\.inotify) else { return nil }
        var found: [(watch: Int32, name: [UInt8], isNearest: Bool)] = []
        var next: [UInt8]? = absolute
        var target = absolute
        // A chain of more links is a loop.
        for step in 0..<8 {
            guard let link = next else { break }
            // The folder of a link in the tree is watched with the tree.
            if step > 0 || path == .root, let name = Self.watchName(of: link, inotify) {
                found.append(name)
            }
            target = link
            next = readTarget(link)
        }
        let watches = Set(found.map(\.watch))
        state.withLock { state in
            guard state.inotify != nil else { return }
            removeTarget(of: path, keeping: watches, &state, inotify)
            for (watch, name, _) in found {
                state.targets[watch, default: [:]][name, default: []].insert(path)
            }
            if !found.isEmpty { state.links[path] = (watches, target) }
        }
        return found.contains(where: \.isNearest) ? watches : nil
    }

    /// Watches the folder of a path for its name, or the nearest folder above for the first name that does not exist.
    private static func watchName(
        of path: [UInt8], _ inotify: Inotify
    ) -> (watch: Int32, name: [UInt8], isNearest: Bool)? {
        let slash = UInt8(ascii: "/")
        var folder = path
        var isNearest = false
        while let index = folder.lastIndex(of: slash) {
            let name = Array(folder[(index + 1)...])
            folder = index == 0 ? [slash] : Array(folder[..<index])
            if let watch = inotify.add(PathBytes(bytes: folder), events | IN_MASK_ADD) {
                return name.isEmpty ? nil : (watch, name, isNearest)
            }
            if folder == [slash] { return nil }
            isNearest = true
        }
        return nil
    }

    private func removeTarget(
        of path: RelativePath, keeping kept: Set<Int32>, _ state: inout State, _ inotify: Inotify
    ) {
        guard let link = state.links.removeValue(forKey: path) else { return }
        for watch in link.watches {
            var names = state.targets[watch] ?? [:]
            for name in Array(names.keys) {
                names[name]?.remove(path)
                if names[name]?.isEmpty == true { names[name] = nil }
            }
            state.targets[watch] = names.isEmpty ? nil : names
            if names.isEmpty, state.paths[watch] == nil, !kept.contains(watch) {
                inotify.remove(watch)
            }
        }
    }

    /// Stops watching the targets of links.
    func removeLinks(where isRemoved: (RelativePath) -> Bool) {
        state.withLock { state in
            guard let inotify = state.inotify else { return }
            for path in state.links.keys.filter(isRemoved) {
                removeTarget(of: path, keeping: [], &state, inotify)
            }
        }
    }

    /// Returns the links that lead to one of these folders, into one, or to a folder above one.
    func links(near folders: some Collection<[UInt8]>) -> [RelativePath] {
        state.withLock { state in
            state.links.filter { _, link in
                folders.contains { folder in
                    folder == link.target || RelativePath.isBelow(folder, link.target)
                        || RelativePath.isBelow(link.target, folder)
                }
            }.map(\.key)
        }
    }

    /// Returns true if a file was created and not closed by its writer since.
    func isUnclosed(_ path: RelativePath) -> Bool { state.withLock { $0.isUnclosed(path) } }

    /// Records that a file is complete.
    func markClosed(_ path: RelativePath) {
        guard let (folder, name) = path.split else { return }
        state.withLock { state in
            guard let watch = state.watches[folder] else { return }
            state.unclosed[watch]?.remove(name)
        }
    }

    // MARK: Events at names

    /// Takes the events that a scan of these paths, or of everything for nil, uses.
    func beginScan(_ paths: [RelativePath]?) -> NameEvents {
        // Otherwise the next scan would use events of changes that this one finds.
        readPendingEvents()
        return state.withLock { state in
            guard let paths else {
                defer { state.events = NameEvents() }
                return state.events
            }
            let scanned = Set(paths)
            return state.events.take { $0.isOrIsBelow(where: scanned.contains) }
        }
    }

    /// Returns the events of files and folders that a scan could not compare.
    func endScan(_ events: NameEvents, except unfinished: (RelativePath) -> Bool) {
        state.withLock { $0.events.restore(events, unfinished) }
    }

    /// Returns all events of a scan that has failed.
    func cancelScan(_ events: NameEvents) {
        endScan(events) { _ in true }
        if events.areLost { state.withLock { $0.events.areLost = true } }
    }

    /// Checks if the name of a file was free since the last scan.
    ///
    /// - Parameters:
    ///   - path: The path of a file.
    ///   - taken: The events that the scan has taken.
    /// - Returns: True if it was free, false if events show that it was not; nil if that is unknown.
    func wasFree(_ path: RelativePath, _ taken: NameEvents) -> Bool? {
        // The kernel queues the events of a change before the change is visible to other processes.
        readPendingEvents()
        return state.withLock { taken.wasFree(path, $0.events) }
    }

    /// Stops watching a folder.
    func unwatch(_ path: RelativePath) {
        state.withLock { state in
            state.unwatched.remove(path)
            guard let inotify = state.inotify else { return }
            guard let watch = state.watches.removeValue(forKey: path) else { return }
            state.paths[watch] = nil
            state.unclosed[watch] = nil
            if state.targets[watch] == nil { inotify.remove(watch) }
        }
    }

    // MARK: Events

    private func readEvents() {
        guard let inotify = state.withLock(\.inotify) else { return }
        inotify.read { event in state.withLock { record(event, in: &$0) } }
        scheduleReport()
    }

    private func record(_ event: Inotify.Event, in state: inout State) {
        let (watch, name) = (event.watch, event.name)
        if event.has(IN_Q_OVERFLOW) {
            state.requireFullScan()
            // Events for closed files were lost, too.
            state.unclosed = [:]
            return
        }
        recordTargets(
            event, isFinal: event.has(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED), &state)
        guard let folder = state.paths[watch] else { return }
        if event.has(IN_IGNORED) {
            state.paths[watch] = nil
            state.unclosed[watch] = nil
            if state.watches[folder] == watch { state.watches[folder] = nil }
        } else if event.has(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) {
            state.add(Entry(path: folder))
        } else if PhotoFilter.isMarker(name), !event.has(IN_ATTRIB | IN_CLOSE_WRITE) {
            // The folder is shown or hidden with all folders below it.
            state.add(Entry(path: folder))
        } else if !name.isEmpty {
            // A name that appears was free before, so that an earlier event says that.
            if !event.has(IN_ATTRIB | IN_CREATE), !state.needsFullScan {
                state.events.record(folder.appending(name), event)
            }
            guard name.first != UInt8(ascii: ".") else { return }
            if event.has(IN_CREATE), !event.has(IN_ISDIR) {
                state.unclosed[watch, default: []].insert(name)
            } else if !event.has(IN_ATTRIB) {
                state.unclosed[watch]?.remove(name)
            }
            state.add(
                Entry(
                    path: folder.appending(name),
                    isClosed: state.unclosed[watch]?.contains(name) != true,
                    hasOnlyAttributes: event.has(IN_ATTRIB)))
        } else if name.isEmpty, folder == .root, event.has(IN_ATTRIB) {
            state.hasRootAttributes = true
        }
    }

    /// Reports the links that lead to a changed name.
    private func recordTargets(_ event: Inotify.Event, isFinal: Bool, _ state: inout State) {
        guard let names = state.targets[event.watch] else { return }
        let links =
            isFinal ? names.values.reduce(into: []) { $0.formUnion($1) } : names[event.name] ?? []
        if event.has(IN_IGNORED) { state.targets[event.watch] = nil }
        for link in links {
            if link == .root, event.has(IN_ATTRIB) {
                state.hasRootAttributes = true
            } else {
                state.add(Entry(path: link))
            }
        }
    }

    // MARK: Reporting

    /// Reports a path with the events of the next 200 ms: a file that is absent may have a new name.
    func report(_ path: RelativePath) {
        queue.async { [self] in
            state.withLock { $0.add(Entry(path: path)) }
            scheduleReport()
        }
    }

    private func scheduleReport() {
        let deadline = state.withLock { state -> DispatchTime? in
            guard state.needsFullScan || state.hasRootAttributes || !state.changed.isEmpty,
                !state.isReportScheduled
            else { return nil }
            let now = DispatchTime.now()
            let first = state.firstEvent ?? now
            state.firstEvent = first
            state.isReportScheduled = true
            return min(now + Self.quietPeriod, max(now, first + Self.burstTimeout))
        }
        guard let deadline else { return }
        let countBefore = state.withLock(\.changed.count)
        queue.asyncAfter(deadline: deadline) { [weak self] in self?.reportOrWait(countBefore) }
    }

    /// Reports the burst if it has ended or reached its maximum duration.
    private func reportOrWait(_ countBefore: Int) {
        let hasEnded = state.withLock { state in
            state.isReportScheduled = false
            let isLong =
                state.firstEvent.map { DispatchTime.now() >= $0 + Self.burstTimeout } ?? true
            return isLong || state.changed.count == countBefore || state.needsFullScan
        }
        guard hasEnded else { return scheduleReport() }
        for change in takeChanges() { report(change) }
    }

    /// Reads the events until now.
    func readPendingEvents() { queue.sync { readEvents() } }

    /// Returns the changes since the last report, which are not reported any more.
    func takeChanges() -> [Change] {
        state.withLock { state in
            var changes: [Change] = []
            if state.needsFullScan {
                changes.append(.everything)
            } else {
                if !state.changed.isEmpty { changes.append(.entries(Array(state.changed.values))) }
                if state.hasRootAttributes { changes.append(.rootAttributes) }
            }
            state.changed = [:]
            state.needsFullScan = false
            state.hasRootAttributes = false
            state.firstEvent = nil
            return changes
        }
    }

    /// Reports files again that a scan has found, unless their close is observed.
    func reportAgain(_ paths: Set<RelativePath>) {
        guard !paths.isEmpty else { return }
        queue.asyncAfter(deadline: .now() + .seconds(Int(Self.closedAfterSeconds) + 1)) {
            [weak self] in
            guard let self else { return }
            state.withLock { state in
                for path in paths where state.isUnclosed(path) {
                    state.add(Entry(path: path, isClosed: false))
                }
            }
            scheduleReport()
        }
    }
}
