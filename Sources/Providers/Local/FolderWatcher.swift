internal import Dispatch
internal import Glibc
internal import Synchronization

/// A watcher of folders that reports changes in bursts, with a short delay.
///
/// Source: inotify(7). The kernel watches single folders, so each folder below the pictures folder has a watch.
final class FolderWatcher: Sendable {
    /// A name in a folder whose file may be new, changed or deleted.
    struct Entry: Hashable, Sendable {
        let folder: RelativePath
        let name: [UInt8]
        /// True if the file is complete, according to the events: a new file is complete when its writer closes it.
        let isClosed: Bool

        var path: RelativePath { folder.appending(name) }
    }

    /// The changes since the last report.
    enum Change: Sendable {
        case entries([Entry])
        /// Events were lost, or there are too many changes: everything must be scanned.
        case everything
    }

    private struct State {
        var paths: [Int32: RelativePath] = [:]
        var watches: [RelativePath: Int32] = [:]
        /// The watch on a folder above the pictures folder while that does not exist, and the name that must appear in
        /// it.
        var ancestor: (watch: Int32, name: [UInt8])?
        /// The changed names of each folder, and whether each file is closed.
        var changed: [RelativePath: [[UInt8]: Bool]] = [:]
        var changedCount = 0
        var evidence = ReplacementEvidence()
        /// The files of each watch that were created and not closed since.
        var unclosed: [Int32: Set<[UInt8]>] = [:]
        var needsFullScan = false
        var firstEvent: DispatchTime?
        var isReportScheduled = false
        var isOutOfWatches = false
        /// nil after ``stop()``.
        var inotify: Inotify?
    }

    /// An inotify descriptor, which is closed with the last reference.
    private final class Inotify: Sendable {
        let descriptor: Int32

        init?() {
            descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            if descriptor < 0 { return nil }
        }

        deinit { close(descriptor) }

        /// Adds a watch. May block for as long as the file system does not respond.
        ///
        /// - Returns: The watch; negative, with `errno`, if there is none.
        func add(_ path: [UInt8], _ mask: UInt32) -> Int32 {
            withCPath(path) { inotify_add_watch(descriptor, $0, mask) }
        }
    }

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
    }

    /// True if a folder could not be watched because the user has no more watches.
    var isOutOfWatches: Bool { source == nil || state.withLock(\.isOutOfWatches) }

    /// Watches the folder with the absolute path `absolute`, which is `path` in the pictures folder. May block while
    /// the file system does not respond.
    func watch(_ path: RelativePath, at absolute: [UInt8]) {
        guard let inotify = state.withLock(\.inotify) else { return }
        let mask =
            IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB
            | IN_DELETE_SELF | IN_MOVE_SELF
        let flags = UInt32(IN_ONLYDIR) | UInt32(IN_EXCL_UNLINK)
        // The lock is not held, because the file system may not respond.
        let watch = inotify.add(absolute, UInt32(mask) | flags)
        let code = errno
        state.withLock { state in
            guard state.inotify != nil else { return }
            if path == .root, let ancestor = state.ancestor, ancestor.watch != watch {
                inotify_rm_watch(inotify.descriptor, ancestor.watch)
            }
            if path == .root { state.ancestor = nil }
            guard watch >= 0 else {
                if code == ENOSPC { state.isOutOfWatches = true }
                return
            }
            if let other = state.paths[watch] { state.watches[other] = nil }
            state.paths[watch] = path
            state.watches[path] = watch
        }
    }

    /// Waits for the creation of the pictures folder, which does not exist. May block while the file system does not
    /// respond.
    func watchAncestor(of root: [UInt8]) {
        guard let inotify = state.withLock(\.inotify) else { return }
        let slash = UInt8(ascii: "/")
        var folder = root
        while let index = folder.lastIndex(of: slash) {
            let name = Array(folder[(index + 1)...])
            folder = index == 0 ? [slash] : Array(folder[..<index])
            let watch = inotify.add(
                folder, UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF))
            guard watch >= 0 else {
                if folder == [slash] { return }
                continue
            }
            return state.withLock { state in
                guard state.inotify != nil else { return }
                if let before = state.ancestor, before.watch != watch {
                    inotify_rm_watch(inotify.descriptor, before.watch)
                }
                state.ancestor = (watch, name)
            }
        }
    }

    /// Returns true if a file was created and not closed by its writer since.
    func isUnclosed(_ folder: RelativePath, _ name: [UInt8]) -> Bool {
        state.withLock { state in
            guard let watch = state.watches[folder] else { return false }
            return state.unclosed[watch]?.contains(name) ?? false
        }
    }

    /// Records that a file is complete.
    func markClosed(_ folder: RelativePath, _ name: [UInt8]) {
        state.withLock { state in
            guard let watch = state.watches[folder] else { return }
            state.unclosed[watch]?.remove(name)
        }
    }

    /// Returns true if events prove that a file was replaced or overwritten while its name was never free.
    func isReplacement(_ path: RelativePath) -> Bool {
        // The kernel queues the events of a change before the change is visible to other processes.
        queue.sync {
            readEvents()
        }
        return state.withLock { !$0.needsFullScan && $0.evidence.isReplacement(path) }
    }

    /// Returns true if events that were read show that a name was free since the last scan.
    func wasFree(_ path: RelativePath) -> Bool { state.withLock { $0.evidence.wasFree(path) } }

    /// Returns the number of reports until now, which a scan passes to ``endScan(begin:_:except:)``.
    func beginScan() -> Int { state.withLock { $0.evidence.endedPeriods } }

    /// Records that a scan has compared `paths`, or everything for nil, except the `unfinished` files and folders.
    func endScan(begin: Int, _ paths: [RelativePath]?, except unfinished: Set<RelativePath>) {
        state.withLock { $0.evidence.endScan(begin: begin, paths, except: unfinished) }
    }

    /// Stops watching a folder.
    func unwatch(_ path: RelativePath) {
        state.withLock { state in
            guard let inotify = state.inotify,
                let watch = state.watches.removeValue(forKey: path)
            else { return }
            state.paths[watch] = nil
            state.unclosed[watch] = nil
            inotify_rm_watch(inotify.descriptor, watch)
        }
    }

    // MARK: Events

    private func readEvents() {
        guard let inotify = state.withLock(\.inotify) else { return }
        withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 8) { buffer in
            while true {
                let count = read(inotify.descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { break }
                state.withLock { state in
                    Self.forEachEvent(UnsafeRawBufferPointer(buffer)[..<count]) { event, name in
                        record(event, name, in: &state)
                    }
                }
            }
        }
        scheduleReport()
    }

    private static func forEachEvent(
        _ bytes: Slice<UnsafeRawBufferPointer>, _ body: (inotify_event, [UInt8]) -> Void
    ) {
        let headerBytes = MemoryLayout<inotify_event>.size
        var rest = UnsafeRawBufferPointer(rebasing: bytes)
        while rest.count >= headerBytes {
            let event = rest.loadUnaligned(as: inotify_event.self)
            let end = headerBytes + Int(event.len)
            guard rest.count >= end else { return }
            body(event, Array(rest[headerBytes..<end].prefix { $0 != 0 }))
            rest = UnsafeRawBufferPointer(rebasing: rest[end...])
        }
    }

    private func record(_ event: inotify_event, _ name: [UInt8], in state: inout State) {
        let mask = Int(event.mask)
        func has(_ flags: Int32) -> Bool { mask & Int(flags) != 0 }
        if has(IN_Q_OVERFLOW) {
            state.needsFullScan = true
            // Events for closed files were lost, too.
            state.unclosed = [:]
        } else if let ancestor = state.ancestor, event.wd == ancestor.watch {
            if name == ancestor.name || has(IN_DELETE_SELF | IN_IGNORED) {
                state.needsFullScan = true
            }
        } else if let folder = state.paths[event.wd] {
            if has(IN_IGNORED) {
                state.paths[event.wd] = nil
                state.unclosed[event.wd] = nil
                if state.watches[folder] == event.wd { state.watches[folder] = nil }
            } else if has(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) {
                guard let (parent, name) = folder.split else {
                    state.needsFullScan = true
                    return
                }
                add(parent, name, isClosed: true, to: &state)
            } else if !name.isEmpty, name.first != UInt8(ascii: ".") {
                // If everything is scanned, only new files that are still open then need evidence.
                if has(IN_CREATE) || !state.needsFullScan {
                    state.evidence.record(
                        folder.appending(name),
                        isFree: has(IN_CREATE | IN_DELETE | IN_MOVED_FROM))
                }
                if has(IN_CREATE), !has(IN_ISDIR) {
                    state.unclosed[event.wd, default: []].insert(name)
                } else if !has(IN_ATTRIB) {
                    state.unclosed[event.wd]?.remove(name)
                }
                let isClosed = state.unclosed[event.wd]?.contains(name) != true
                add(folder, name, isClosed: isClosed, to: &state)
            } else if name.isEmpty, folder == .root, has(IN_ATTRIB) {
                // The permissions may have changed.
                state.needsFullScan = true
            }
        }
    }

    private func add(
        _ folder: RelativePath, _ name: [UInt8], isClosed: Bool, to state: inout State
    ) {
        guard !state.needsFullScan else { return }
        let before = state.changed[folder, default: [:]].updateValue(isClosed, forKey: name)
        if before == nil { state.changedCount += 1 }
        if state.changedCount > Self.maximumEntries { state.needsFullScan = true }
    }

    // MARK: Reporting

    private func scheduleReport() {
        let deadline = state.withLock { state -> DispatchTime? in
            guard state.needsFullScan || !state.changed.isEmpty, !state.isReportScheduled else {
                return nil
            }
            let now = DispatchTime.now()
            let first = state.firstEvent ?? now
            state.firstEvent = first
            state.isReportScheduled = true
            return min(now + Self.quietPeriod, max(now, first + Self.burstTimeout))
        }
        guard let deadline else { return }
        let countBefore = changeCount
        queue.asyncAfter(deadline: deadline) { [weak self] in self?.reportOrWait(countBefore) }
    }

    private var changeCount: Int { state.withLock { $0.changedCount } }

    /// Reports the burst if it has ended or reached its maximum duration.
    private func reportOrWait(_ countBefore: Int) {
        let change = state.withLock { state -> Change? in
            state.isReportScheduled = false
            let isLong =
                state.firstEvent.map { DispatchTime.now() >= $0 + Self.burstTimeout } ?? true
            guard isLong || state.changedCount == countBefore || state.needsFullScan else {
                return nil
            }
            let change: Change =
                state.needsFullScan
                ? .everything
                : .entries(
                    state.changed.flatMap { folder, names in
                        names.map { Entry(folder: folder, name: $0, isClosed: $1) }
                    })
            if state.needsFullScan { state.evidence.recordLoss() }
            state.evidence.endPeriod()
            state.changed = [:]
            state.changedCount = 0
            state.needsFullScan = false
            state.firstEvent = nil
            return change
        }
        guard let change else { return scheduleReport() }
        report(change)
        if case .entries(let entries) = change { reportAgain(entries.filter { !$0.isClosed }) }
    }

    /// Reports files again whose close has not been observed.
    private func reportAgain(_ entries: [Entry]) {
        guard !entries.isEmpty else { return }
        queue.asyncAfter(deadline: .now() + .seconds(Int(Self.closedAfterSeconds) + 1)) {
            [weak self] in
            guard let self else { return }
            state.withLock { state in
                for entry in entries {
                    guard let watch = state.watches[entry.folder],
                        state.unclosed[watch]?.contains(entry.name) == true
                    else { continue }
                    self.add(entry.folder, entry.name, isClosed: false, to: &state)
                }
            }
            scheduleReport()
        }
    }
}
