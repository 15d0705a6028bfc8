internal import Dispatch
internal import Glibc
internal import Synchronization
internal import System

/// The file system calls of one scan, made on ``FileThreads``. Blocks the caller, at most for the time limit of each
/// file or folder that does not respond.
///
/// If calls are slow, several are made at the same time: a server that takes 3 ms per call takes as long for four.
final class PictureFiles {
    /// The number of calls at the same time on a slow file system.
    private static let lanes = 4
    /// A file system is slow if a call takes longer than this.
    private static let slowCall = Duration.microseconds(300)
    /// A lane that starts is worth it for that many calls.
    private static let callsInLane = 8

    private let threads: FileThreads
    private var isSlow = false

    init(_ threads: FileThreads) { self.threads = threads }

    /// The present mount points, as absolute paths.
    var mountPoints: Set<[UInt8]> { threads.mountPoints }

    /// Looks at a path.
    func look(_ path: [UInt8]) -> FileStatus.Lookup {
        look([path])[0]
    }

    /// Looks at paths.
    func look(_ paths: [[UInt8]]) -> [FileStatus.Lookup] {
        each(paths) { FileStatus.look($0, $1) }.map { $0 ?? .unavailable(ETIMEDOUT) }
    }

    /// Returns which paths are symbolic links; false where that is unknown.
    func areLinks(_ paths: [[UInt8]]) -> [Bool] {
        each(paths) { path, progress in progress.begin(path) == 0 && FileStatus.isLink(path) }
            .map { $0 ?? false }
    }

    /// Returns the path without links that a path leads to; nil where that is unknown.
    func realPath(_ path: [UInt8]) -> [UInt8]? {
        let results = each([path]) { path, progress -> [UInt8]? in
            guard progress.begin(path) == 0,
                let resolved = withCPath(path, { realpath($0, nil) })
            else { return nil }
            defer { free(resolved) }
            return Array(UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)))
        }
        return results[0] ?? nil
    }

    /// Returns the absolute path that a symbolic link contains; nil if `path` is none.
    func linkTarget(_ path: [UInt8]) -> [UInt8]? {
        let results = each([path]) { path, progress -> [UInt8]? in
            guard progress.begin(path) == 0 else { return nil }
            let target = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
                count = withCPath(path) { path in
                    buffer.withMemoryRebound(to: CChar.self) { text in
                        text.baseAddress.map { max(0, readlink(path, $0, text.count)) } ?? 0
                    }
                }
            }
            guard let first = target.first, first != UInt8(ascii: "/") else {
                return target.isEmpty ? nil : target
            }
            let folder = path[...(path.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)]
            return folder + target
        }
        return results[0] ?? nil
    }

    /// Reads the first bytes of files.
    func contents(_ paths: [[UInt8]]) -> [FileContent] {
        each(paths) { path, progress in
            progress.begin(path) == 0 ? FileContent(ofFile: path) : .unreadable
        }.map { $0 ?? .unreadable }
    }

    /// Reads a folder.
    ///
    /// - Parameters:
    ///   - path: The absolute path.
    ///   - watch: Watches the folder, on the same thread, before it is read.
    /// - Returns: The entries, or an error.
    func list(
        _ path: [UInt8], watch: @escaping @Sendable () -> Void
    ) -> Result<FolderListing, FolderListing.Unreadable> {
        let listings = each([path]) { path, progress in
            let fault = progress.begin(path)
            guard fault == 0 else {
                return Result<FolderListing, FolderListing.Unreadable>.failure(.init(code: fault))
            }
            watch()
            return Result { () throws(FolderListing.Unreadable) in try FolderListing(path) }
        }
        return listings[0] ?? .failure(FolderListing.Unreadable(code: ETIMEDOUT))
    }

    /// Calls `operation` for each path, in lanes that each continue behind a path that does not respond.
    ///
    /// - Returns: The results; nil for paths that do not respond.
    private func each<Value: Sendable>(
        _ paths: [[UInt8]], _ operation: @escaping @Sendable ([UInt8], FileProgress) -> Value
    ) -> [Value?] {
        var results = [Value?](repeating: nil, count: paths.count)
        var pieces = pieces(of: paths.count)
        let start = ContinuousClock.now
        while !pieces.isEmpty {
            let group = DispatchGroup()
            let collected = pieces.map { piece in
                run(paths[piece], operation, group)
            }
            group.wait()
            pieces = zip(pieces, collected).compactMap { piece, collected in
                let values = collected.values
                results.replaceSubrange(
                    piece.lowerBound..<piece.lowerBound + values.count, with: values)
                // The first path without a result does not respond.
                let next = piece.lowerBound + values.count + 1
                return next < piece.upperBound ? next..<piece.upperBound : nil
            }
        }
        if paths.count >= Self.callsInLane {
            isSlow = (ContinuousClock.now - start) / paths.count > Self.slowCall
        }
        return results
    }

    private func pieces(of count: Int) -> [Range<Int>] {
        guard count > 0 else { return [] }
        let lanes = isSlow ? max(1, min(Self.lanes, count / Self.callsInLane)) : 1
        return (0..<lanes).map { count * $0 / lanes..<count * ($0 + 1) / lanes }
    }

    private func run<Value: Sendable>(
        _ paths: ArraySlice<[UInt8]>,
        _ operation: @escaping @Sendable ([UInt8], FileProgress) -> Value, _ group: DispatchGroup
    ) -> Collected<Value> {
        let collected = Collected<Value>()
        guard let first = paths.first else { return collected }
        group.enter()
        threads.start(first) { [threads] progress in
            for path in paths {
                // Another thread may be blocked there by now.
                if threads.isUnavailable(path) {
                    collected.append(nil)
                } else {
                    guard progress.advance() else { return }
                    let value = operation(path, progress)
                    guard progress.advance() else { return }
                    collected.append(value)
                }
            }
        } completion: { _ in
            group.leave()
        }
        return collected
    }
}

/// The results of a job so far.
private final class Collected<Value: Sendable>: Sendable {
    private let state = Mutex<[Value?]>([])

    var values: [Value?] { state.withLock { $0 } }

    func append(_ value: Value?) { state.withLock { $0.append(value) } }
}
