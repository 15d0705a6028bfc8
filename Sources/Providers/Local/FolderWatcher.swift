internal import Dispatch
internal import Glibc
internal import Synchronization

/// Tells what changes in folders, some time after it did: bursts come as one.
///
/// Source: inotify(7). The kernel watches single folders, so each one below the pictures folder has a watch.
final class FolderWatcher: Sendable {
    /// Something in a folder that may be new, changed or gone.
    struct Entry: Hashable, Sendable {
        let folder: RelativePath
        let name: [UInt8]
        /// Whether nobody is still writing the file, as far as the kernel tells: a new file is settled
        /// when its writer closes it.
        let isSettled: Bool
        /// True if events prove that the file was replaced or overwritten: its name was never free.
        var isReplacement = false
    }

    /// What has changed since the last time.
    enum Change: Sendable {
        case entries([Entry])
        /// The kernel has lost track, or too much has changed to tell each: look at everything.
        case everything
    }

    private struct State {
        var paths: [Int32: RelativePath] = [:]
        var watches: [RelativePath: Int32] = [:]
        /// The watch on a folder above the pictures folder, while that does not exist, and the name that
        /// it waits for.
        var ancestor: (watch: Int32, name: [UInt8])?
        /// The changed names of each folder, and whether each is settled.
        var changed: [RelativePath: [[UInt8]: Bool]] = [:]
        var changedCount = 0
        /// The names of each folder that were free at some time since they were reported last.
        var freed: [RelativePath: Set<[UInt8]>] = [:]
        /// The files of each watch that were created and have not been closed since.
        var unsettled: [Int32: Set<[UInt8]>] = [:]
        var needsEverything = false
        var firstEvent: DispatchTime?
        var isReportScheduled = false
        var isOutOfWatches = false
        /// nil after the end.
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

    /// How long a burst must be over before it is told of.
    private static let quiet = DispatchTimeInterval.milliseconds(200)
    /// How long a burst may go on before it is told of.
    private static let patience = DispatchTimeInterval.milliseconds(1000)
    /// A file that nobody was seen to close is whole when it was not written to for so long.
    static let restSeconds: Int64 = 5
    /// More changes than this are "everything".
    private static let maximumEntries = 10_000

    private let queue = DispatchQueue(label: "folder-watcher")
    // Dispatch sources may be used from any thread.
    nonisolated(unsafe) private let source: (any DispatchSourceRead)?
    private let state = Mutex(State())
    private let report: @Sendable (Change) -> Void

    /// Begins to report what happens in the folders that are watched from now on. Where the user
    /// has no more inotify instances, nothing is ever reported.
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
        // The descriptor must stay open until the source has let go of it.
        source?.setCancelHandler { withExtendedLifetime(inotify) {} }
        source?.activate()
    }

    deinit { stop() }

    /// Ends; nothing is reported any more.
    func stop() {
        state.withLock { $0.inotify = nil }
        source?.cancel()
    }

    /// Whether some folder could not be watched, since the user has no more watches.
    var isOutOfWatches: Bool { source == nil || state.withLock(\.isOutOfWatches) }

    /// Watches the folder at `absolute`, which lies at `path`. May block for as long as the file system does not
    /// respond.
    func watch(_ path: RelativePath, at absolute: [UInt8]) {
        guard let inotify = state.withLock(\.inotify) else { return }
        let mask =
            IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB
            | IN_DELETE_SELF | IN_MOVE_SELF
        let flags = UInt32(IN_ONLYDIR) | UInt32(IN_EXCL_UNLINK)
        // Without the lock: others must not wait for the file system.
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

    /// Waits for the pictures folder, which does not exist, to come. May block for as long as the file system does not
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

    /// Whether a file was created, and has not been closed by its writer since.
    func isUnsettled(_ folder: RelativePath, _ name: [UInt8]) -> Bool {
        state.withLock { state in
            guard let watch = state.watches[folder] else { return false }
            return state.unsettled[watch]?.contains(name) ?? false
        }
    }

    /// Takes note that a file is whole, whoever wrote it.
    func settle(_ folder: RelativePath, _ name: [UInt8]) {
        state.withLock { state in
            guard let watch = state.watches[folder] else { return }
            state.unsettled[watch]?.remove(name)
            state.freed[folder]?.remove(name)
        }
    }

    /// Returns the evidence of events that have not been reported yet.
    ///
    /// - Parameters:
    ///   - folder: The folder of a file.
    ///   - name: The name of the file.
    /// - Returns: True if the name was never free, false if it was or may have been; nil without events.
    func isReplacement(_ folder: RelativePath, _ name: [UInt8]) -> Bool? {
        // The kernel queues the events of a change before others see the change.
        queue.sync {
            readEvents()
        }
        return state.withLock { state in
            guard !state.needsEverything else { return false }
            guard state.changed[folder]?[name] != nil else { return nil }
            return state.freed[folder]?.contains(name) != true
        }
    }

    /// Watches a folder no more.
    func unwatch(_ path: RelativePath) {
        state.withLock { state in
            guard let inotify = state.inotify,
                let watch = state.watches.removeValue(forKey: path)
            else { return }
            state.paths[watch] = nil
            state.unsettled[watch] = nil
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
                        note(event, name, in: &state)
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

    private func note(_ event: inotify_event, _ name: [UInt8], in state: inout State) {
        let mask = Int(event.mask)
        func has(_ flags: Int32) -> Bool { mask & Int(flags) != 0 }
        if has(IN_Q_OVERFLOW) {
            state.needsEverything = true
            // Who has closed what is lost, too.
            state.unsettled = [:]
        } else if let ancestor = state.ancestor, event.wd == ancestor.watch {
            if name == ancestor.name || has(IN_DELETE_SELF | IN_IGNORED) {
                state.needsEverything = true
            }
        } else if let folder = state.paths[event.wd] {
            if has(IN_IGNORED) {
                state.paths[event.wd] = nil
                state.unsettled[event.wd] = nil
                if state.watches[folder] == event.wd { state.watches[folder] = nil }
            } else if has(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) {
                guard let (parent, name) = folder.split else {
                    state.needsEverything = true
                    return
                }
                add(parent, name, isSettled: true, to: &state)
            } else if !name.isEmpty, name.first != UInt8(ascii: ".") {
                if has(IN_CREATE) || has(IN_DELETE | IN_MOVED_FROM) && !state.needsEverything {
                    state.freed[folder, default: []].insert(name)
                }
                if has(IN_CREATE), !has(IN_ISDIR) {
                    state.unsettled[event.wd, default: []].insert(name)
                } else if !has(IN_ATTRIB) {
                    state.unsettled[event.wd]?.remove(name)
                }
                let isSettled = state.unsettled[event.wd]?.contains(name) != true
                add(folder, name, isSettled: isSettled, to: &state)
            } else if name.isEmpty, folder == .root, has(IN_ATTRIB) {
                // Its permissions may have changed.
                state.needsEverything = true
            }
        }
    }

    private func add(
        _ folder: RelativePath, _ name: [UInt8], isSettled: Bool, to state: inout State
    ) {
        guard !state.needsEverything else { return }
        let before = state.changed[folder, default: [:]].updateValue(isSettled, forKey: name)
        if before == nil { state.changedCount += 1 }
        if state.changedCount > Self.maximumEntries { state.needsEverything = true }
    }

    // MARK: Reporting

    private func scheduleReport() {
        let deadline = state.withLock { state -> DispatchTime? in
            guard state.needsEverything || !state.changed.isEmpty, !state.isReportScheduled else {
                return nil
            }
            let now = DispatchTime.now()
            let first = state.firstEvent ?? now
            state.firstEvent = first
            state.isReportScheduled = true
            return min(now + Self.quiet, max(now, first + Self.patience))
        }
        guard let deadline else { return }
        let countBefore = changeCount
        queue.asyncAfter(deadline: deadline) { [weak self] in self?.reportOrWait(countBefore) }
    }

    private var changeCount: Int { state.withLock { $0.changedCount } }

    /// Tells of the burst if it is over, or has gone on for long.
    private func reportOrWait(_ countBefore: Int) {
        let change = state.withLock { state -> Change? in
            state.isReportScheduled = false
            let isLong = state.firstEvent.map { DispatchTime.now() >= $0 + Self.patience } ?? true
            guard isLong || state.changedCount == countBefore || state.needsEverything else {
                return nil
            }
            let change: Change =
                state.needsEverything
                ? .everything
                : .entries(
                    state.changed.flatMap { folder, names in
                        names.map { name, isSettled in
                            Entry(
                                folder: folder, name: name, isSettled: isSettled,
                                isReplacement: state.freed[folder]?.contains(name) != true)
                        }
                    })
            // A file that is still being written is reported again.
            for (folder, names) in state.freed {
                let unsettled = state.watches[folder].flatMap { state.unsettled[$0] } ?? []
                let rest = names.intersection(unsettled)
                state.freed[folder] = rest.isEmpty ? nil : rest
            }
            state.changed = [:]
            state.changedCount = 0
            state.needsEverything = false
            state.firstEvent = nil
            return change
        }
        guard let change else { return scheduleReport() }
        report(change)
        if case .entries(let entries) = change { lookAgain(entries.filter { !$0.isSettled }) }
    }

    /// Tells once more of files that nobody was seen to close by then.
    private func lookAgain(_ entries: [Entry]) {
        guard !entries.isEmpty else { return }
        queue.asyncAfter(deadline: .now() + .seconds(Int(Self.restSeconds) + 1)) { [weak self] in
            guard let self else { return }
            state.withLock { state in
                for entry in entries {
                    guard let watch = state.watches[entry.folder],
                        state.unsettled[watch]?.contains(entry.name) == true
                    else { continue }
                    self.add(entry.folder, entry.name, isSettled: false, to: &state)
                }
            }
            scheduleReport()
        }
    }
}
