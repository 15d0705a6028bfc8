internal import CLinux
internal import Dispatch
internal import Glibc
internal import Logging
internal import ProviderKit
internal import Storage
internal import Synchronization
internal import System

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
                if isReadable != true || state.withLock({ $0.status != .ready }) {
                    await scan(nil)
                }
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
            await scan(paths.compactMap(\.entry))
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
            try await scans.run { [self] in try scanNow(entries) }
            if watcher.isOutOfWatches {
                logger.warning(
                    "Changes in some folders are not detected; raise fs.inotify.max_user_watches"
                )
            }
            setStatus(.ready)
        } catch let error as FolderScan.RootUnreadable {
            setStatus(.failed(reason: reason(error)))
        } catch StorageError.damaged where claimRecreation() {
            await discardIndex()
            await scan(nil)
        } catch {
            endRefresh(
                state.withLock { Array($0.refreshers.keys) }, Result.failure(error))
            recordFailure(error)
        }
    }

    /// Scans, and resumes the refresh calls that wait for the scan. Called on the scan queue.
    private func scanNow(_ entries: [FolderWatcher.Entry]?) throws {
        let refreshers = entries == nil ? beginRefresh() : []
        let (result, found) = run(entries)
        endRefresh(refreshers, result.map { found })
        if entries == nil || found.count > Self.manyChanges {
            // A large scan allocates much memory, which is returned to the system.
            database.setCache(isLarge: false)
            malloc_trim(0)
        }
        try result.get()
        // Not on the main thread, because there may be very many changes.
        metadataReader.readRest(after: found.changed)
    }

    /// Returns true for the first caller that finds the index damaged. This caller recreates the index.
    func claimRecreation() -> Bool {
        state.withLock { state in
            defer { state.wasRecreated = true }
            return !state.wasRecreated
        }
    }

    /// Deletes a damaged index. The next scan fills a new one.
    func discardIndex() async {
        await database.discard()
        state.withLock { state in
            state.isOpen = false
            state.isScanned = false
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
        let scan = FolderScan(
            root: root, database, PictureFiles(files), watcher, marks,
            isStopped: { [self] in isStopped }, publish: { [self] in publish($0) })
        let result = Result { try run(scan, entries) }
        return (result, scan.published)
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
        } catch let error as FolderScan.RootUnreadable {
            recordUnavailable(
                FileStatus.provesAbsence(error.code) ? [] : [.root], in: nil)
            throw error
        }
        recordUnavailable(scan.unavailable, in: entries)
    }
}

/// The retries of files and folders that could not be read.
extension PictureFolder {
    /// Records the paths that a scan could not read, and retries them later.
    ///
    /// - Parameters:
    ///   - paths: The files and folders that the scan could not read.
    ///   - entries: The scanned entries; nil for a scan of everything.
    func recordUnavailable(
        _ paths: Set<RelativePath>, in entries: [FolderWatcher.Entry]?
    ) {
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

    /// Schedules the next retry, unless there is nothing to retry, or a retry is scheduled.
    private func scheduleRetry(_ state: inout State) {
        guard !state.isStopped, !state.unavailable.isEmpty else {
            state.retryDelay = Self.firstRetryDelay
            return
        }
        guard state.retry == nil else { return }
        let delay = state.retryDelay
        state.retryDelay = min(delay * 2, Self.longestRetryDelay)
        state.retry = Task { @MainActor [weak self, clock] in
            do { try await clock.sleep(for: delay) } catch { return }
            await self?.retryNow()
        }
    }

    /// Retries unavailable paths at once, because a file system responds again.
    func retryAtOnce() {
        let (task, isNeeded) = state.withLock { state in
            state.retryDelay = Self.firstRetryDelay
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
            return state.unavailable.compactMap(\.entry)
        }
        guard entries?.isEmpty != true else { return }
        await scan(entries)
    }
}

extension RelativePath {
    /// The entry that scans this path; nil for the pictures folder.
    var entry: FolderWatcher.Entry? {
        split.map { FolderWatcher.Entry(folder: $0.folder, name: $0.name, isClosed: true) }
    }
}
