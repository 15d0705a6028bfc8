internal import Dispatch
internal import Glibc
internal import ImageMetadata
internal import Synchronization
internal import System

/// The file system calls of one scan, made on ``FileThreads``. Blocks the caller, at most for the time limit of each
/// file or folder that does not respond.
///
/// If calls are slow, several are made at the same time, because a file server serves them in parallel.
final class PictureFiles {
    /// The number of calls at the same time on a slow file system.
    private static let maximumBatches = 4
    /// A file system is slow if a call takes longer than this.
    private static let slowCall = Duration.microseconds(300)
    /// The minimum number of calls for each concurrent batch.
    private static let minimumCallsInBatch = 8

    private let threads: FileThreads
    private var isSlow = false

    init(_ threads: FileThreads) { self.threads = threads }

    /// The present mount points, as absolute paths.
    var mountPoints: Set<[UInt8]> { threads.mountPoints }

    /// The devices of the file systems that do not announce all changes.
    var remoteDevices: Set<Int64> { threads.remoteDevices }

    /// Looks up paths.
    func lookUp(_ paths: [[UInt8]]) -> [FileStatus.Lookup] {
        each(paths) { FileStatus.lookUp($0, $1) }.map { $0 ?? .unavailable(ETIMEDOUT) }
    }

    /// Returns, for each path, true if it is a symbolic link, and false if not or unknown.
    func areLinks(_ paths: [[UInt8]]) -> [Bool] {
        each(paths, orElse: false) { PathBytes(bytes: $0).linkTarget != nil }
    }

    /// Returns the path with all symbolic links resolved, as far as it exists; nil if it is unknown.
    func realPath(_ path: [UInt8]) -> [UInt8]? {
        each([path], orElse: nil) { resolvedPath($0) }[0]
    }

    /// Reads the image data of files; see ``DigestReader/read(_:_:expecting:)``.
    func digests(
        _ paths: [[UInt8]], _ reader: DigestReader, expecting count: Int64?
    ) -> [DigestReader.Result?] {
        each(paths) { reader.read($0, $1, expecting: count) }.map { $0 ?? nil }
    }

    /// Returns true if a folder can be read.
    func isReadable(_ folder: [UInt8]) -> Bool {
        each([folder], orElse: false) { path in
            withCPath(path) { access($0, R_OK | X_OK) } == 0
        }[0]
    }

    /// Watches the target of a link; see ``FolderWatcher/watchTarget(of:at:)``.
    func watchTarget(of link: RelativePath, at path: [UInt8], _ watcher: FolderWatcher) {
        _ = each([path], orElse: ()) { watcher.watchTarget(of: link, at: $0) }
    }

    /// Returns false if a file has no header of an image, and true if this is unknown.
    func hasImage(_ path: [UInt8]) -> Bool {
        each([path], orElse: true) { path in
            let descriptor = openForReading(path)
            guard descriptor >= 0 else { return true }
            defer { close(descriptor) }
            return ImageHeader(FileBytes(descriptor: descriptor)) != nil
        }[0]
    }

    /// Reads the first bytes of files.
    func contents(_ paths: [[UInt8]]) -> [FileContent] {
        each(paths, orElse: .unreadable) { FileContent.read($0) }
    }

    /// Reads a folder.
    ///
    /// - Parameters:
    ///   - path: The absolute path.
    ///   - watch: Watches the folder, on the same thread, before it is read.
    /// - Returns: The entries, or an error.
    func list(
        _ path: [UInt8], watch: @escaping @Sendable () -> Void
    ) -> Result<DirectoryListing, FileError> {
        let listings = each([path]) { path, progress in
            let fault = progress.begin(path)
            guard fault == 0 else {
                return Result<DirectoryListing, FileError>.failure(FileError(code: fault))
            }
            watch()
            return Result { () throws(FileError) in try DirectoryListing(path) }
        }
        return listings[0] ?? .failure(FileError(code: ETIMEDOUT))
    }

    /// Calls `operation` for each path, in concurrent batches.
    ///
    /// - Returns: The results; `fallback` for paths that do not respond, and for those with a fault.
    private func each<Value: Sendable>(
        _ paths: [[UInt8]], orElse fallback: Value,
        _ operation: @escaping @Sendable ([UInt8]) -> Value
    ) -> [Value] {
        each(paths) { path, progress in progress.begin(path) == 0 ? operation(path) : fallback }
            .map { $0 ?? fallback }
    }

    /// Calls `operation` for each path, in concurrent batches. Each batch continues after a path that does not respond.
    ///
    /// - Returns: The results; nil for paths that do not respond.
    private func each<Value: Sendable>(
        _ paths: [[UInt8]], _ operation: @escaping @Sendable ([UInt8], FileProgress) -> Value
    ) -> [Value?] {
        var results = [Value?](repeating: nil, count: paths.count)
        var batches = batches(of: paths.count)
        let start = ContinuousClock.now
        while !batches.isEmpty {
            let group = DispatchGroup()
            // The results of each batch so far.
            let collected = Mutex([[Value?]](repeating: [], count: batches.count))
            for (index, batch) in batches.enumerated() {
                run(paths[batch], operation, group) { value in
                    collected.withLock { $0[index].append(value) }
                }
            }
            group.wait()
            batches = zip(batches, collected.withLock(\.self)).compactMap { batch, values in
                results.replaceSubrange(
                    batch.lowerBound..<batch.lowerBound + values.count, with: values)
                // The first path without a result does not respond.
                let next = batch.lowerBound + values.count + 1
                return next < batch.upperBound ? next..<batch.upperBound : nil
            }
        }
        if paths.count >= Self.minimumCallsInBatch {
            isSlow = (ContinuousClock.now - start) / paths.count > Self.slowCall
        }
        return results
    }

    private func batches(of count: Int) -> [Range<Int>] {
        guard count > 0 else { return [] }
        let batchCount =
            isSlow ? max(1, min(Self.maximumBatches, count / Self.minimumCallsInBatch)) : 1
        return (0..<batchCount).map { count * $0 / batchCount..<count * ($0 + 1) / batchCount }
    }

    private func run<Value: Sendable>(
        _ paths: ArraySlice<[UInt8]>,
        _ operation: @escaping @Sendable ([UInt8], FileProgress) -> Value, _ group: DispatchGroup,
        _ collect: @escaping @Sendable (Value?) -> Void
    ) {
        guard let first = paths.first else { return }
        group.enter()
        threads.start(first) { [threads] progress in
            for path in paths {
                // Another thread may be blocked by this path. The job is admitted for its first one.
                if path != first, threads.isUnavailable(path) {
                    collect(nil)
                } else {
                    guard progress.advance() else { return }
                    let value = operation(path, progress)
                    guard progress.advance() else { return }
                    collect(value)
                }
            }
        } completion: { _ in
            group.leave()
        }
    }
}
