internal import Glibc
internal import System

extension KeyFile {
    /// The error of a file that cannot be changed.
    package struct FileError: Error {
        package let path: String
        /// The value of `errno`.
        package let code: Int32

        package var reason: String { String(cString: strerror(code)) }
    }

    /// Sets the value of a key in a file, which is created if necessary.
    ///
    /// The new contents are written to a second file, which then replaces the first: a failure loses nothing. A
    /// symbolic link is followed, and the mode of the file is preserved. While another process changes a file in the
    /// folder, this function waits.
    ///
    /// - Throws: ``FileError``; the file is unchanged then.
    package static func set(
        _ value: String, for key: String, in group: String, at path: String
    ) throws(FileError) {
        var path = path
        do throws(System.FileError) {
            // The target of a symbolic link is edited, not the link.
            path = try resolved(path)
            let slash = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
            let folder = open("\(path[..<slash]).", O_RDONLY | O_CLOEXEC)
            defer { close(folder) }
            // Best effort: some file systems have no locks.
            while flock(folder, LOCK_EX) != 0, errno == EINTR {}
            let (text, mode) = try contents(of: path)
            try writeAtomically(
                setting(value, for: key, in: group, of: text), to: path,
                through: "\(path[..<slash]).\(path[slash...]).imagefeed-part", mode: mode,
                isDurable: true)
        } catch {
            throw FileError(path: path, code: error.code)
        }
    }

    private static func resolved(_ path: String) throws(System.FileError) -> String {
        guard let resolved = realpath(path, nil) else {
            var status = stat()
            // A dangling link is not replaced: its target may exist later. Another process may have created the file.
            guard lstat(path, &status) != 0 || status.st_mode & S_IFMT != S_IFLNK else {
                throw System.FileError(code: ENOENT)
            }
            return path
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Returns the contents and the permissions of a file, or those of a new one.
    private static func contents(
        of path: String
    ) throws(System.FileError) -> (text: [UInt8], mode: mode_t) {
        do throws(System.FileError) {
            return try Configuration.read(path, isRegular: true)
        } catch {
            guard error.code == ENOENT else { throw error }
            return ([], 0o600)
        }
    }
}

extension UserFolders {
    /// Sets the value of a key in the configuration file of the user, whose folder is created if necessary.
    ///
    /// - Throws: ``KeyFile/FileError``; the file is unchanged then.
    package func set(_ value: String, for key: String, in group: String) throws(KeyFile.FileError) {
        var path = ""
        for name in configuration.split(separator: "/") {
            path += "/\(name)"
            mkdir(path, 0o700)
        }
        try KeyFile.set(value, for: key, in: group, at: "\(configuration)/imagefeed.conf")
    }
}
