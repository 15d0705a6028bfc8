internal import DBus
internal import Glibc

/// A file whose name is created when the file is complete.
///
/// An incomplete file has no name (`O_TMPFILE`), so that the kernel deletes it if the program is killed. On a file
/// system without this function, it has a temporary name in the same folder, and ``discard()`` removes the name.
struct PartFile {
    let descriptor: FileDescriptor
    /// The temporary name; nil if the file has no name.
    private let part: PathBytes?
    private let path: PathBytes
    private let replaces: Bool

    /// Returns the path of `name` in the folder `path`, or `path` itself if it is not a folder.
    static func target(_ path: PathBytes, name: String) -> PathBytes {
        guard isFolder(path) || path.hasSlashAtEnd else { return path }
        return path == PathBytes(".") ? PathBytes(name) : path.appending(PathBytes(name))
    }

    /// Creates the file in the folder of `path`.
    ///
    /// - Parameters:
    ///   - path: The final path. If it is a symbolic link, its target is replaced, not the link.
    ///   - replaces: True if an existing file is replaced.
    /// - Throws: ``CommandFailure`` if the file exists and `replaces` is false, or if the file cannot be created.
    init(beside path: PathBytes, replaces: Bool) throws(CommandFailure) {
        self.replaces = replaces
        var status = stat()
        if !replaces, path.withCString({ lstat($0, &status) }) == 0 { throw Self.inUse(path) }
        guard !Self.isFolder(path) else {
            throw CommandFailure(.failed, "\(path.text) is a folder. Choose another file name.")
        }
        guard let target = replaces ? path.followingLinks() : path else {
            throw Self.failure(path, errno)
        }
        self.path = target
        // The mode is that of the replaced file, or the default mode of new files: a temporary file would be private.
        let mask = umask(0)
        umask(mask)
        var mode = 0o666 & ~mask
        if replaces, target.withCString({ stat($0, &status) }) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw CommandFailure(
                    .failed, "\(path.text) cannot be replaced: it is not a regular file.")
            }
            mode = status.st_mode & 0o777
        }
        let folder = target.folder
        let unnamed = (folder.isEmpty ? PathBytes(".") : folder).withCString {
            open($0, O_WRONLY | O_CLOEXEC | Self.unnamedFileFlags, 0o666)
        }
        if unnamed >= 0 {
            descriptor = FileDescriptor(owning: unnamed)
            part = nil
        } else {
            let suffix = ".part"
            let name = folder.appending(PathBytes(".imagefeed-XXXXXX\(suffix)"))
            var template = name.bytes.map(CChar.init(bitPattern:)) + [0]
            let number = mkstemps(&template, Int32(suffix.utf8.count))
            guard number >= 0 else { throw Self.failure(path, errno) }
            descriptor = FileDescriptor(owning: number)
            part = PathBytes(bytes: template.dropLast().map(UInt8.init(bitPattern:)))
        }
        fchmod(descriptor.rawValue, mode)
    }

    /// Creates the final name of the file. If this fails, an existing file is not changed.
    ///
    /// - Throws: ``CommandFailure`` if the disk is full, or if another file with this name was created meanwhile.
    func finish() throws(CommandFailure) {
        guard fsync(descriptor.rawValue) == 0 || errno == EINVAL else {
            throw Self.failure(path, errno)
        }
        if !replaces {
            // Unlike `rename`, `link` does not replace a file that was created meanwhile.
            if link(to: path) {
                // A link does not send the inotify event for which file system watchers wait: the close of a descriptor
                // that was open for writing.
                let written = path.withCString { open($0, O_WRONLY | O_CLOEXEC) }
                if written >= 0 { close(written) }
                return
            }
            if errno == EEXIST { throw Self.inUse(path) }
            // Some file systems do not support hard links.
            var status = stat()
            if path.withCString({ lstat($0, &status) }) == 0 { throw Self.inUse(path) }
        }
        let part = if let part { part } else { try makeTemporaryName() }
        guard Self.rename(part, path) == 0 else {
            let number = errno
            Self.unlink(part)
            throw Self.failure(path, number)
        }
    }

    /// Removes the temporary name, if there is one.
    func discard() { if let part { Self.unlink(part) } }

    /// Creates a temporary name of a file without a name, because only `rename` can replace a file, not `link`.
    private func makeTemporaryName() throws(CommandFailure) -> PathBytes {
        let name = path.folder.appending(PathBytes(".imagefeed-\(getpid()).part"))
        Self.unlink(name)
        guard link(to: name) else { throw Self.failure(path, errno) }
        return name
    }

    /// Creates a hard link to the file.
    ///
    /// Source: open(2), section O_TMPFILE.
    private func link(to name: PathBytes) -> Bool {
        name.withCString { name in
            if let part { return part.withCString { Glibc.link($0, name) } == 0 }
            let own = "/proc/self/fd/\(descriptor.rawValue)"
            return linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0
        }
    }

    /// `O_TMPFILE`, a macro that Swift does not import.
    private static let unnamedFileFlags = 0o20_000_000 | O_DIRECTORY

    private static func rename(_ old: PathBytes, _ new: PathBytes) -> Int32 {
        old.withCString { old in new.withCString { Glibc.rename(old, $0) } }
    }

    private static func unlink(_ path: PathBytes) { _ = path.withCString { Glibc.unlink($0) } }

    private static func isFolder(_ path: PathBytes) -> Bool {
        var status = stat()
        return path.withCString { stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func inUse(_ path: PathBytes) -> CommandFailure {
        CommandFailure(.failed, "\(path.text) already exists. To replace it, add --force.")
    }

    private static func failure(_ path: PathBytes, _ number: Int32) -> CommandFailure {
        CommandFailure(
            .failed, "\(path.text) cannot be written: \(String(cString: strerror(number))).")
    }
}
