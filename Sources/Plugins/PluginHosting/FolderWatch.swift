internal import Glibc
internal import System

/// An observer of changes in folders, which reports them shortly after the last change.
///
/// A folder that does not exist is reported when it is created.
final class FolderWatch {
    private let folders: [String]
    private let onChange: () -> Void
    private let inotify = Inotify()
    private var source: DescriptorSource?
    private var pause: MainLoopTimer?

    /// The time in which changes are collected. Unpacking an archive causes many changes.
    private static let delay = Duration.milliseconds(100)

    init(_ folders: [String], onChange: @escaping () -> Void) {
        self.folders = folders
        self.onChange = onChange
        guard let inotify else { return }
        source = DescriptorSource(inotify.descriptor, .reading, owner: inotify) {
            [unowned self] in read()
        }
        source?.resume()
        watch()
    }

    isolated deinit { source?.cancel() }

    private static let changes =
        IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_ATTRIB

    /// Watches further folders until they are deleted.
    func watch(further paths: Set<String>) {
        // A folder that was replaced needs a new watch. Adding an existing watch again has no effect.
        for path in paths where !folders.contains(path) { _ = add(path, Self.changes) }
    }

    private func watch() {
        for folder in folders {
            var nearest: Substring?
            // A missing folder may appear before the folder above it is watched. Then it is watched, too.
            while let path = watchNearest(of: folder), path != nearest { nearest = path }
        }
    }

    /// Watches a folder, or the nearest existing one above it.
    ///
    /// - Returns: The folder above; nil if the folder itself is watched.
    private func watchNearest(of folder: String) -> Substring? {
        guard !add(folder, Self.changes) else { return nil }
        var path = folder[...]
        while let end = path.lastIndex(of: "/"), end > path.startIndex {
            path = path[..<end]
            if add(String(path), IN_CREATE | IN_MOVED_TO) { return path }
        }
        return nil
    }

    private func add(_ path: String, _ mask: Int32) -> Bool {
        inotify?.add(PathBytes(path), mask | IN_ONLYDIR) != nil
    }

    private func read() {
        inotify?.read { _ in }
        pause = MainLoopTimer(after: Self.delay) { [unowned self] in
            // A missing folder may exist now.
            watch()
            onChange()
        }
    }
}

/// The recorded state of files. A new version of a file has another state.
nonisolated struct FileStamps: Hashable, Sendable {
    private let paths: [String]
    /// The folders, whose contents may change.
    private let folders: [String]
    /// The state of each file and the permissions of each folder; nil if there is none.
    private let states: [[Int]?]

    /// Reads the present state of files, and the permissions of folders.
    init(_ paths: [String], folders: [String] = []) {
        self.paths = paths
        self.folders = folders
        states = (paths + folders).enumerated().map { index, path in
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            let file = [
                Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino),
                Int(status.st_size),
                status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
            ]
            return [Int(status.st_mode)] + (index < paths.count ? file : [])
        }
    }

    /// Reads the stamps of the same files again.
    init(_ other: FileStamps) { self.init(other.paths, folders: other.folders) }

    /// True if the files changed since the stamps were read.
    var haveChanged: Bool { FileStamps(self) != self }
}
