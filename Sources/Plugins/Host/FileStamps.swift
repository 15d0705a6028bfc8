internal import Glibc

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
                Int(status.st_dev), Int(status.st_ino), Int(status.st_size),
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
