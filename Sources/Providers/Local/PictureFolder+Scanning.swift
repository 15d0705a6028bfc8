internal import CLinux
internal import Dispatch
internal import Glibc
internal import ImageMetadata
internal import Logging
internal import ProviderKit
internal import Storage
internal import Synchronization
internal import System
internal import Translation

/// The scans of the folder.
extension PictureFolder {
    func folderChanged(_ change: FolderWatcher.Change) {
        Task { @MainActor in
            switch change {
            case .everything: await scan(nil)
            case .entries(let entries): await scan(entries)
            case .rootAttributes:
                let isReadable = await files.run(root) { [root] progress in
                    progress.begin(root) == 0 && FileStatus(root) != nil
                        && withCPath(root) { access($0, R_OK | X_OK) } == 0
                }
                if isReadable != true || state.withLock({ $0.status != .ready }) { await scan(nil) }
            case .mounts: await mountsChanged()
            }
        }
    }

    /// Scans the parts of the tree at which file systems were mounted or unmounted.
    private func mountsChanged() async {
        let mounted = files.mountPoints
        let before = state.withLock { state in
            defer { state.mountPoints = mounted }
            return state.mountPoints
        }
        let changed = mounted.symmetricDifference(before ?? [])
        guard before != nil, !changed.isEmpty else { return }
        if changed.contains(where: { $0 == root || RelativePath.isBelow(root, $0) }) {
            await scan(nil)
            return
        }
        let below = changed.filter { RelativePath.isBelow($0, root) }.map {
            RelativePath(bytes: Array($0[(root.count + 1)...]))
        }
        let paths = below + watcher.links(near: changed)
        if paths.contains(.root) {
            await scan(nil)
        } else if !paths.isEmpty {
            await scan(paths.map { FolderWatcher.Entry(path: $0) })
        }
    }

    /// Scans everything.
    func startScan() {
        Task { @MainActor in await scan(nil) }
    }

    /// Scans changed paths, or everything for nil, and resumes the refresh calls that wait for it.
    func scan(_ entries: [FolderWatcher.Entry]?) async {
        do {
            try await openIndex()
            let opened = state.withLock(\.replacements)
            try await scans.run { [self] in try scanNow(entries) }
            // Only a scan of everything completes an index that was replaced.
            let isComplete = state.withLock { state in
                let isComplete =
                    state.replacements == opened && (entries == nil || state.isScanned)
                if isComplete { state.wasRecreated = false }
                return isComplete
            }
            if isComplete { setStatus(.ready) }
        } catch let error as FileError {
            setStatus(.failed(reason: reason(error)))
        } catch StorageError.damaged where beginRecreation() {
            await scan(nil)
        } catch {
            endRefresh(
                state.withLock { Array($0.refreshers.keys) }, Result.failure(error))
            recordFailure(error, isOfWholeScan: entries == nil)
        }
    }

    /// Scans, and resumes the refresh calls that wait for the scan. Called on the scan queue.
    private func scanNow(_ entries: [FolderWatcher.Entry]?) throws {
        let refreshers = entries == nil ? beginRefresh() : []
        let (result, found) = run(entries)
        endRefresh(refreshers, result.map { found })
        // The rest of the changes is released before the memory is returned.
        let (count, changed) = (found.count, found.changed)
        if entries == nil || count > Self.manyChanges {
            // A large scan allocates much memory, which is returned to the system.
            store.setCache(kibibytes: nil)
            malloc_trim(0)
        }
        try result.get()
        // Not on the main thread, because there may be very many changes.
        metadataReader.readRest(after: changed)
    }

    /// Records that the store has replaced the index.
    ///
    /// - Returns: True for the first caller that finds the index damaged. This caller scans everything, which fills the
    ///   new index.
    func beginRecreation() -> Bool {
        state.withLock { state in
            guard !state.wasRecreated else { return false }
            state.wasRecreated = true
            state.isOpen = false
            state.isScanned = false
            return true
        }
    }

    /// Returns the refresh calls that the starting scan will resume.
    private func beginRefresh() -> [Int] {
        state.withLock { state in
            for number in state.refreshers.keys { state.refreshers[number]?.isScanning = true }
            return Array(state.refreshers.keys)
        }
    }

    private func endRefresh(_ numbers: [Int], _ result: Result<IndexChanges, any Error>) {
        let refreshers = state.withLock { state in
            numbers.compactMap { state.refreshers.removeValue(forKey: $0) }
        }
        for refresher in refreshers { refresher.continuation.resume(with: result) }
    }

    /// Returns the result of a scan, and the changes that it has published, also those before an error. The memory of the
    /// scan is free after that.
    private func run(
        _ entries: [FolderWatcher.Entry]?
    ) -> (result: Result<Void, any Error>, found: IndexChanges) {
        let scan = makeScan()
        let result = Result { try run(scan, entries) }
        return (result, scan.published)
    }

    private func makeScan() -> FolderScan {
        FolderScan(
            root: root, store, PictureFiles(files), watcher, marks,
            state.withLock(\.settings.filter),
            isStopped: { [self] in isStopped }, examine: { [self] in examine($0) },
            publish: { [self] in publish($0) })
    }

    /// Returns true if a file does not exist because its file system is not mounted.
    func isNotMounted(_ path: RelativePath) async -> Bool {
        let isNotMounted = try? await DispatchQueue.global().run { [self] in
            try makeScan().isBelowLostMountPoint(absolute(path))
        }
        return isNotMounted ?? false
    }

    /// Reads the metadata of photos for a limited time, so that they are published in their places. Blocks.
    ///
    /// - Returns: The folders of photos that have other positions now.
    private func examine(_ rows: Set<Int64>) -> Set<RelativePath> {
        let moved = Mutex<Set<RelativePath>?>([])
        let end = DispatchSemaphore(value: 0)
        Task { @MainActor in
            let found = await metadataReader.readMetadata(rows.sorted(), inBackground: false)
            // After the time limit, the changes are reported as those of the background.
            let isInTime = moved.withLock { moved in
                defer { if moved != nil { moved = found.moved } }
                return moved != nil
            }
            if !isInTime {
                emitChanged(found.changed)
                emitReordered(found.moved)
            }
            end.signal()
        }
        _ = end.wait(timeout: .now() + Self.examinationTimeout)
        return moved.withLock { $0.take() } ?? []
    }

    private static let examinationTimeout = DispatchTimeInterval.seconds(1)

    /// Scans the folders whose changes are not reported.
    func scanUnreported() async {
        do {
            try await openIndex()
            try await scans.run { [self] in
                guard !isStopped else { return }
                let scan = makeScan()
                let (deep, hidden) = state.withLock { ($0.deepFolders, $0.hiddenFolders) }
                let folders = try scan.scanUnreported(hidden)
                setNotices(folders, scan, deep, [])
                metadataReader.readRest(after: scan.published.changed)
            }
        } catch {
            recordFailure(error)
        }
    }

    /// Reports the folders that the account cannot show, or whose changes it cannot notice.
    ///
    /// - Parameters:
    ///   - unreported: The folders whose changes are not reported.
    ///   - scan: The scan.
    ///   - deep: The folders that earlier scans omitted, because they are too deep.
    ///   - hidden: Those that they omitted, because a file hides them.
    private func setNotices(
        _ unreported: [RelativePath], _ scan: FolderScan, _ deep: Set<RelativePath>,
        _ hidden: Set<RelativePath>
    ) {
        let deep = scan.deepFolders.union(scan.existing(deep))
        let hidden = scan.hidden.union(hidden).subtracting(scan.visitedPaths)
        let hasUnreported =
            !unreported.isEmpty || watcher.exceededLimit != nil || scan.areUnreported(hidden)
        var notices: [String] = []
        if let limit = watcher.exceededLimit {
            notices.append(
                tr(
                    "Changes of some folders are noticed only at each RefreshInterval, because a limit of the kernel is reached; raise {limit}.",
                    ["limit": limit]))
        } else if let example = unreported.first {
            notices.append(
                trn(
                    "Changes of {count} folder on a network or FUSE file system, {folder}, are noticed only at each RefreshInterval.",
                    "Changes of {count} folders on network or FUSE file systems, such as {folder}, are noticed only at each RefreshInterval.",
                    unreported.count, ["folder": title(example)]))
        }
        if let example = deep.min(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
            notices.append(
                tr(
                    "Folders at a depth of more than {count} levels are not shown, such as {folder}.",
                    ["count": "\(FolderScan.maximumDepth)", "folder": title(example)]))
        }
        let isNew = state.withLock { state in
            (state.deepFolders, state.hiddenFolders) = (deep, hidden)
            state.hasUnreported = hasUnreported
            defer { state.folderNotices = notices }
            return state.folderNotices != notices
        }
        guard isNew else { return }
        for notice in notices { logger.warning("\(notice)") }
        updateNotices()
    }

    /// Records the reason why the image of a photo cannot be decoded; nil after it was decoded.
    func recordDecoding(of picture: PictureIndex.File, _ reason: Message?) {
        state.withLock { state in
            state.undecodable[picture.id] = reason.map { (path: picture.path, reason: $0) }
        }
        updateNotices()
    }

    /// Reports the notices if they have changed.
    func updateNotices() {
        state.withLock { state in
            var notices = state.folderNotices
            let example = state.undecodable.values.min {
                $0.path.bytes.lexicographicallyPrecedes($1.path.bytes)
            }
            if let example {
                notices.append(
                    trn(
                        "{file} cannot be shown: {reason}",
                        "{count} photos cannot be shown, such as {file}: {reason}",
                        state.undecodable.count,
                        ["file": example.path.title, "reason": example.reason.translated]))
            }
            guard notices != state.notices else { return }
            state.notices = notices
            for listener in state.listeners.values { listener.events.yield(.notices(notices)) }
        }
    }

    private func title(_ folder: RelativePath) -> String {
        folder == .root ? String(decoding: root, as: UTF8.self) : folder.title
    }

    /// Runs a scan, and records the paths that it could not read.
    private func run(_ scan: FolderScan, _ entries: [FolderWatcher.Entry]?) throws {
        guard !isStopped else { throw CancellationError() }
        let mounted = files.mountPoints
        let unavailable = state.withLock { state in
            if state.mountPoints == nil { state.mountPoints = mounted }
            return state.unavailable
        }
        let entries = entries?.map { entry in
            var entry = entry
            if unavailable.contains(entry.path) { entry.hasOnlyAttributes = false }
            return entry
        }
        do {
            try scan.scan(entries)
        } catch let error as FileError {
            recordUnavailable(
                FileStatus.provesAbsence(error.code) ? [] : [.root], in: nil)
            throw error
        }
        recordUnavailable(scan.unavailable, in: entries)
        let (deep, hidden) =
            entries == nil ? ([], []) : state.withLock { ($0.deepFolders, $0.hiddenFolders) }
        setNotices(try scan.unreportedFolders().map(\.path), scan, deep, hidden)
    }

    // MARK: Retries of files and folders that could not be read

    /// Records the paths that a scan could not read, and retries them later.
    ///
    /// - Parameters:
    ///   - paths: The files and folders that the scan could not read.
    ///   - entries: The scanned entries; nil for a scan of everything.
    func recordUnavailable(_ paths: Set<RelativePath>, in entries: [FolderWatcher.Entry]?) {
        let (isNew, isRecovered) = state.withLock { state in
            let before = state.unavailable
            if let entries {
                state.unavailable.subtract(entries.map(\.path))
                state.unavailable.formUnion(paths)
            } else {
                state.unavailable = paths
            }
            scheduleRetry(&state)
            return (
                before.isEmpty && !state.unavailable.isEmpty,
                !before.subtracting(state.unavailable).isEmpty
            )
        }
        if isNew {
            logger.warning(
                "Some photos cannot be read; their entries in the index are unchanged",
                metadata: ["count": "\(paths.count)"])
        }
        if isRecovered { metadataReader.retry() }
    }

    /// Schedules a scan of everything after the disk was full.
    func retryWhenThereIsRoom() {
        state.withLock { state in
            state.unavailable = [.root]
            state.retries.recordSuccess()
            scheduleRetry(&state)
        }
    }

    /// Schedules the next retry, unless there is nothing to retry, or a retry is scheduled.
    private func scheduleRetry(_ state: inout State) {
        guard !state.isStopped, !state.unavailable.isEmpty else {
            state.retries.recordSuccess()
            return
        }
        guard state.retry == nil else { return }
        state.retries.recordFailure()
        state.retry = Task { @MainActor [weak self, clock, delay = state.retries.pause] in
            do { try await clock.sleep(for: delay) } catch { return }
            await self?.retryNow()
        }
    }

    /// Retries unavailable paths at once, because a file system responds again.
    func retryAtOnce() {
        let (task, isNeeded) = state.withLock { state in
            state.retries.recordSuccess()
            let isNeeded = !state.isStopped && !state.unavailable.isEmpty
            defer { if isNeeded { state.retry = nil } }
            return (isNeeded ? state.retry : nil, isNeeded)
        }
        task?.cancel()
        metadataReader.retry()
        if isNeeded { Task { @MainActor in await retryNow() } }
    }

    private func retryNow() async {
        let entries = state.withLock { state -> [FolderWatcher.Entry]? in
            state.retry = nil
            guard !state.unavailable.contains(.root) else { return nil }
            return state.unavailable.map { FolderWatcher.Entry(path: $0) }
        }
        guard entries?.isEmpty != true else { return }
        await scan(entries)
    }
}
