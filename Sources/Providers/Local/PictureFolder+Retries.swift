internal import Logging
internal import Storage
internal import Synchronization

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
        let (isNew, isRecovered, retryDelay) = state.withLock { state in
            let before = state.unavailable
            if let entries {
                state.unavailable.subtract(entries.map(\.path))
                state.unavailable.formUnion(paths)
            } else {
                state.unavailable = paths
            }
            return (
                before.isEmpty && !state.unavailable.isEmpty,
                !before.subtracting(state.unavailable).isEmpty, nextRetry(&state)
            )
        }
        if isNew {
            logger.warning(
                "Some photos cannot be read; their entries in the index are unchanged",
                metadata: ["count": "\(paths.count)"])
        }
        if isRecovered { metadataReader.retry() }
        if let retryDelay { retry(after: retryDelay) }
    }

    /// Returns the delay of the next retry; nil if there is nothing to retry, or a retry is scheduled.
    private func nextRetry(_ state: inout State) -> Duration? {
        guard !state.isStopped, !state.unavailable.isEmpty else {
            state.retryDelay = Self.firstRetryDelay
            return nil
        }
        guard state.retry == nil else { return nil }
        defer { state.retryDelay = min(state.retryDelay * 2, Self.longestRetryDelay) }
        return state.retryDelay
    }

    func retry(after delay: Duration) {
        let task = Task { @MainActor [weak self, clock] in
            do { try await clock.sleep(for: delay) } catch { return }
            await self?.retryNow()
        }
        state.withLock { state in
            if state.isStopped { task.cancel() } else { state.retry = task }
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
        try? await scan(entries)
    }
}

extension RelativePath {
    /// The entry that scans this path; nil for the pictures folder.
    var entry: FolderWatcher.Entry? {
        split.map { FolderWatcher.Entry(folder: $0.folder, name: $0.name, isClosed: true) }
    }
}
