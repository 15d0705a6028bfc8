internal import Glibc
internal import ProviderKit
internal import Quoting
internal import Storage
internal import Synchronization
internal import System
internal import Translation

/// The functions that read the index and open photos.
extension PictureFolder {
    /// Runs `body` on the index: at once if the index is complete, otherwise when the first scan has found `count`
    /// photos or has ended.
    ///
    /// - Parameters:
    ///   - count: The number of photos to wait for.
    ///   - isWhole: Returns true if the value does not depend on photos that the first scan has not found yet. If it
    ///     returns false, or if `body` throws `notFound`, `body` runs once more after the first scan.
    ///   - isUsable: Returns true if the value is to be returned at the time limit.
    ///   - body: Reads a consistent snapshot of the index.
    /// - Returns: The value of `body`.
    /// - Throws: The error of `body`; `ProviderError` for a folder or an index that cannot be read, and for a first
    ///   scan that takes longer than the time limit.
    func read<Value: Sendable>(
        atLeast count: Int = 1, until isWhole: (Value) -> Bool = { _ in true },
        orAtLimit isUsable: (Value) -> Bool = { _ in false },
        _ body: @escaping @Sendable (PictureIndex) throws -> Value
    ) async throws -> Value {
        let isInTime = await waitForPhotos(count, Self.pageTimeout)
        let (couldServeAll, replacements) = (canServeAll, store.replacementCount)
        // The store may have replaced the index since, by one that is filled now.
        func hadAll() -> Bool { couldServeAll && replacements == store.replacementCount }
        do {
            let value = try await readNow(body)
            if hadAll() || isWhole(value) || !isInTime && isUsable(value) { return value }
        } catch ProviderError.notFound where !hadAll() {
        } catch StorageError.damaged {
            // The first caller scans everything, and the others wait for that scan.
            if beginRecreation() { startScan() }
        }
        _ = await waitForPhotos(.max, Self.scanTimeout)
        do {
            let value = try await readNow(body)
            if canServeAll || isWhole(value) || isUsable(value) { return value }
        } catch ProviderError.notFound where !canServeAll {
        } catch let error as StorageError {
            throw ProviderError(error)
        }
        throw ProviderError.failed(
            Message("The pictures folder is still being read; try again later."))
    }

    /// True if the index contains all photos that a scan could find.
    var canServeAll: Bool { state.withLock { $0.canServe(.max) } }

    /// Runs `body` on a consistent snapshot of the index, also while that is incomplete.
    func readNow<Value: Sendable>(
        _ body: @escaping @Sendable (PictureIndex) throws -> Value
    ) async throws -> Value {
        if case .failed(let reason, let remedy) = state.withLock(\.status),
            !state.withLock(\.isOpen)
        {
            throw remedy == .freeSpace ? ProviderError.storageFull : .failed(reason)
        }
        do {
            if isIndexReplaced { throw StorageError.damaged(store.path) }
            let value: Value
            do {
                value = try await store.read { try body(PictureIndex($0)) }
            } catch ProviderError.notFound where isIndexReplaced {
                throw StorageError.damaged(store.path)
            }
            // The read itself may have found that the file was deleted, and have used the new one, which is empty.
            if isIndexReplaced { throw StorageError.damaged(store.path) }
            return value
        } catch let error as StorageError {
            // A damaged index that was recreated is damaged again only after its scan.
            let canRecover = state.withLock { !$0.wasRecreated || !$0.isScanned }
            if case .damaged = error, canRecover { throw error }
            throw ProviderError(error)
        }
    }

    /// Scans everything, and waits for the result for a limited time. The scan continues after that.
    ///
    /// - Returns: The changes that the scan has found, or at the time limit those found by then. Concurrent calls share
    ///   one scan.
    func refresh() async throws -> IndexChanges {
        var timer: Task<Void, any Error>?
        defer { timer?.cancel() }
        return try await withCheckedThrowingContinuation { continuation in
            let (number, isFirst) = state.withLock { state in
                state.lastNumber += 1
                let isFirst = state.refreshers.values.allSatisfy(\.isScanning)
                state.refreshers[state.lastNumber] = Refresher(continuation: continuation)
                return (state.lastNumber, isFirst)
            }
            // Started after the call is registered: a timer that fires before would never end the call.
            timer = Task { @MainActor [clock] in
                try await clock.sleep(for: Self.refreshTimeout)
                let refresher = state.withLock { $0.refreshers.removeValue(forKey: number) }
                refresher?.continuation.resume(returning: refresher?.found ?? IndexChanges())
            }
            if isFirst { startScan() }
        }
    }

    func absolute(_ path: RelativePath) -> [UInt8] { path.absolute(below: root) }

    /// Returns a path to the photo that is valid UTF-8: its own path, or that of a link in the cache.
    ///
    /// - Throws: `ProviderError` if the file is gone or does not respond.
    func servablePath(_ picture: PictureIndex.File, id: PhotoID) async throws -> String {
        let path = absolute(picture.path)
        let result = await files.run(path) { [links] progress -> Result<String, ProviderError> in
            switch FileStatus.lookUp(path, progress) {
            case .unavailable(let code): return .failure(Self.unreadable(id, code))
            case .found(let status) where status.kind == .file:
                if let text = String(validating: path, as: UTF8.self) { return .success(text) }
                return Result { () throws(ProviderError) in try links.make(id, to: path) }
            case .found, .absent: return .failure(Self.noPhoto(id))
            }
        }
        guard let result else { throw Self.noResponse }
        return try result.get()
    }

    /// Opens the file of a photo for reading. The caller closes the descriptor.
    ///
    /// - Throws: `ProviderError` if the file is gone, cannot be read or does not respond.
    func open(_ picture: PictureIndex.File, id: PhotoID) async throws -> Int32 {
        let path = absolute(picture.path)
        let result = await files.run(path) {
            if case .success(let descriptor) = $0 { close(descriptor) }
        } _: {
            Self.open(path, $0)
        }
        switch result {
        case nil: throw Self.noResponse
        case .success(let descriptor): return descriptor
        case .failure(let error) where FileStatus.provesAbsence(error.code):
            throw Self.noPhoto(id)
        case .failure(let error): throw Self.unreadable(id, error.code)
        }
    }

    static func open(_ path: [UInt8], _ progress: FileProgress) -> Result<Int32, FileError> {
        let fault = progress.begin(path)
        guard fault == 0 else { return .failure(FileError(code: fault)) }
        let descriptor = openForReading(path)
        guard descriptor >= 0 else { return .failure(FileError(code: errno)) }
        guard FileStatus(descriptor: descriptor)?.kind == .file else {
            close(descriptor)
            return .failure(FileError(code: ENOENT))
        }
        return .success(descriptor)
    }

    static let noResponse = ProviderError.failed(
        Message("The disk with the photo does not respond; try again later."))

    private static func unreadable(_ id: PhotoID, _ code: Int32) -> ProviderError {
        .failed(
            Message(
                "The file of photo {photo} cannot be read: {reason}.",
                ["photo": id.text.quoted, "reason": String(cString: strerror(code))]))
    }

    static func noPhoto(_ id: PhotoID) -> ProviderError {
        .notFound(Message("There is no photo {photo}.", ["photo": id.text.quoted]))
    }

    /// Waits until a page of `count` photos can be served, or for the time limit.
    ///
    /// - Returns: False if the time limit was reached.
    private func waitForPhotos(_ count: Int, _ timeout: Duration) async -> Bool {
        await waiters.wait(for: count, atMost: timeout, clock) {
            state.withLock { $0.canServe(count) }
        }
        return state.withLock { $0.canServe(count) }
    }

    func resumeWaiters() {
        waiters.resume { count in state.withLock { $0.canServe(count) } }
    }
}
