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
        let state = { (path: String, isFolder: Bool) -> [Int]? in
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            let mode = Int(status.st_mode)
            guard !isFolder else { return [mode] }
            return [
                mode, Int(status.st_dev), Int(status.st_ino), Int(status.st_size),
                status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
            ]
        }
        states = paths.map { state($0, false) } + folders.map { state($0, true) }
    }

    /// Reads the stamps of the same files again.
    init(_ other: FileStamps) { self.init(other.paths, folders: other.folders) }

    /// True if the files changed since the stamps were read.
    var haveChanged: Bool { FileStamps(self) != self }
}
